/* What the chart of the page that compares results shows, as the data that charts.js draws: functions without a page. */
(function () {
  "use strict";

  const known = (value) => typeof value === "number";

  /** `shown`: {scaling, title, unit, across, apart, ideal, xs: [{label, at}], series: [{label, ink, figures}]}, with a
      figure or null per x. Numbers of devices make lines; all else is compared in panels. */
  function spec(shown) {
    return shown.scaling ? lines(shown) : dots(shown);
  }

  function lines(shown) {
    const points = (each) => shown.xs.map((x, at) => ({ x: x.at, figure: each.figures[at] })).filter((one) => one.figure && known(one.figure.value));
    const series = shown.series.map((each) => ({
      label: each.label, ink: each.ink,
      points: points(each).map((one) => Object.assign({ x: one.x, y: one.figure.value }, one.figure)),
    })).filter((each) => each.points.length);
    return {
      kind: "lines", title: shown.title, unit: shown.unit, ideal: shown.ideal, near: known(shown.ideal), series: series,
      x: { label: shown.across, log2: true, ticks: shown.xs.map((x) => ({ at: x.at, label: x.label })) },
    };
  }

  function dots(shown) {
    const row = (each, at) => Object.assign({ label: each.label, ink: each.ink }, each.figures[at]);
    const panels = shown.xs.map((x, at) => ({ label: x.label, rows: shown.series.filter((each) => each.figures[at]).map((each) => row(each, at)) })).filter((panel) => panel.rows.length);
    const alone = panels.length > 1 && panels.every((panel) => panel.rows.length === 1) && shown.series.length === 1;
    const one = () => [{ label: shown.series[0].label, rows: panels.map((panel) => Object.assign({}, panel.rows[0], { label: panel.label })) }];
    return { kind: "dots", title: shown.title, unit: shown.unit, apart: shown.apart && !alone, panels: alone ? one() : panels };
  }

  window.perfledger.compare.chart = { spec: spec };
})();
