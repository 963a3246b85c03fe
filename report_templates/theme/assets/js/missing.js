/* One page for what is not there serves all languages: below zh/ it searches the Chinese pages. */
(function () {
  const element = document.getElementById("__config"), config = JSON.parse(element.textContent);
  const chinese = config.base.replace(/\/?$/, "/zh/");
  if (location.pathname.indexOf(chinese) !== 0) return;
  config.base = chinese;
  element.textContent = JSON.stringify(config);
})();
