"""What must not be published, one or more of every rule: made by shape, never real, and put together at run time, so
that no scanner takes these lines for keys.
"""

from __future__ import annotations

from typing import NamedTuple


class Planted(NamedTuple):
    """A text, and the part of it that must be gone."""

    rule: str
    text: str
    secret: str


HEX = "0123456789abcdef"
#: Letters and digits in which no word of a site stands.
HEXES = "9f3b7c0e5d1a8642"
LETTERS = "Qz7Wk3Xv9Jy2Pf8"


def letters(count: int) -> str:
    return (LETTERS * (count // len(LETTERS) + 1))[:count]


def lower(count: int) -> str:
    return letters(count).lower()


def hexes(count: int) -> str:
    return (HEXES * (count // len(HEXES) + 1))[:count]


def key(rule: str, *prefix: str, tail: str = "", before: str = "", after: str = "") -> Planted:
    """Return a key whose shape is a prefix and a tail; the secret is its tail."""
    return Planted(rule, f"{before}{''.join(prefix)}{tail}{after}", tail)


UUID = "-".join((hexes(8), hexes(4), hexes(4), hexes(4), hexes(12)))
PEM = "PRIVATE KEY"
KEYS: tuple[Planted, ...] = (
    Planted("private-key", f"-----BEGIN RSA {PEM}-----\nMI{LETTERS}\nIBAAKC\n-----END RSA {PEM}----- after", LETTERS),
    Planted("private-key", f"-----BEGIN OPENSSH {PEM}-----\nb3BlbnNz{LETTERS}", LETTERS),
    Planted("private-key", f"-----BEGIN PGP {PEM} BLOCK-----\n\nlQOYBF{LETTERS}", LETTERS),
    Planted("private-key", rf'"k": "-----BEGIN {PEM}-----\nMIIE{LETTERS}\n-----END {PEM}-----\n"', LETTERS),
    Planted("putty-private-key", f"Private-Lines: 1\n{letters(60)}\nPrivate-MAC: 0", letters(60)),
    key("age-secret-key", "AGE-SECRET", "-KEY-1", tail=letters(58).upper()),
    key("hugging-face", "hf", "_", tail=letters(34)),
    key("hugging-face", "api", "_org_", tail=letters(34)),
    key("openai-and-alike", "sk", "-", tail=letters(48)),
    key("openai-and-alike", "sk", "-ant-", "api03-", tail=letters(80)),
    key("langfuse", "pk", "-lf-", tail=UUID),
    key("nvidia", "nv", "api-", tail=letters(64), before="NGC "),
    key("weights-and-biases", "wandb", "_v1_", tail=letters(60)),
    key("weights-and-biases", "local", "-", tail=hexes(40)),
    key("replicate", "r8", "_", tail=letters(37)),
    key("groq", "gs", "k_", tail=letters(52)),
    key("xai", "xa", "i-", tail=letters(80)),
    key("perplexity", "pp", "lx-", tail=letters(48)),
    key("langsmith", "lsv2", "_pt_", tail=f"{hexes(32)}_{hexes(10)}"),
    key("pinecone", "pc", "sk_", tail=letters(60)),
    key("kaggle", "KG", "AT_", tail=hexes(32)),
    key("kaggle-file", '{"username":"x",', '"key":"', tail=hexes(32), after='"}'),
    key("firecrawl", "f", "c-", tail=hexes(32)),
    key("tavily", "tv", "ly-", tail=letters(32)),
    key("elevenlabs", "sk", "_", tail=hexes(48)),
    key("prefect", "pn", "u_", tail=letters(36)),
    key("aws-access-key", "AK", "IA", tail=letters(16).upper()),
    key("aws-access-key", "AS", "IA", tail=letters(16).upper()),
    key("aws-bedrock", "AB", "SK", tail=letters(120)),
    key("google-api-key", "AI", "za", tail=letters(35)),
    key("google-access-token", "ya", "29.", tail=letters(60)),
    key("google-client-secret", "GOC", "SPX-", tail=letters(28)),
    key("google-refresh-token", "1/", "/0", tail=letters(60)),
    key("azure-client-secret", "abc8", "Q~", tail=letters(34)),
    key("azure-devops", letters(76), "AZ", "DO", tail="Zx9K"),
    key("alibaba", "LT", "AI", tail=letters(20)),
    key("alibaba", "ST", "S.", tail=letters(24)),
    key("tencent", "AK", "ID", tail=letters(32)),
    key("baidu", "bce-v3/", "ALT", "AK-", tail=f"{letters(21)}/{hexes(40)}"),
    key("volcengine", "AK", "LT", tail=letters(43)),
    key("yandex", "AQ", "VN", tail=letters(35)),
    key("digitalocean", "do", "p_v1_", tail=hexes(64)),
    key("heroku", "HR", "KU-", tail=letters(60)),
    key("cloudflare-origin", "v1", ".0-", tail=f"{hexes(24)}-{hexes(146)}"),
    key("fly", "fo", "1_", tail=letters(43)),
    key("netlify", "nf", "p_", tail=letters(36)),
    key("supabase", "sb", "p_", tail=hexes(40)),
    key("planetscale", "psc", "ale_tkn_", tail=letters(43)),
    key("databricks", "da", "pi", tail=hexes(32)),
    key("tailscale", "ts", "key-auth-", tail=letters(30)),
    key("github", "gh", "p_", tail=letters(36)),
    key("github", "github", "_pat_", tail=letters(82)),
    key("gitlab", "gl", "pat-", tail=letters(20)),
    key("bitbucket", "AT", "BB", tail=letters(32)),
    key("atlassian", "ATA", "TT3", tail=letters(180)),
    key("npm", "np", "m_", tail=letters(36)),
    key("pypi", "py", "pi-AgE", tail=letters(90)),
    key("rubygems", "ruby", "gems_", tail=hexes(48)),
    key("nuget", "oy", "2", tail=lower(43)),
    key("crates", "ci", "o", tail=letters(32)),
    key("clojars", "CLO", "JARS_", tail=letters(60)),
    key("docker-hub", "dckr", "_pat_", tail=letters(27)),
    key("docker-config", '{"auths": {"x": {"au', 'th": "', tail=letters(24), after='"}}}'),
    key("kubernetes-config", "client-key", "-data: LS0t", tail=letters(80)),
    key("kubernetes-config", "kubeadm join --to", "ken ", tail=f"{lower(6)}.{lower(16)}"),
    key("openshift", "sha", "256~", tail=letters(43)),
    key("jfrog", "AK", "Cp", tail=letters(69)),
    key("sonarqube", "sq", "p_", tail=hexes(40)),
    key("circleci", "CCI", "PAT_", tail=f"{letters(22)}_{hexes(40)}"),
    key("buildkite", "bk", "ua_", tail=hexes(40)),
    key("octopus-deploy", "AP", "I-", tail=letters(26).upper()),
    key("hashicorp-vault", "hv", "s.", tail=letters(90)),
    key("terraform-cloud", letters(14), ".atlas", "v1.", tail=letters(67)),
    key("pulumi", "pu", "l-", tail=hexes(40)),
    key("doppler", "dp", ".pt.", tail=letters(43)),
    key("one-password", "op", "s_eyJ", tail=letters(80)),
    key("infracost", "ic", "o-", tail=letters(32)),
    key("sourcegraph", "sg", "p_", tail=f"{hexes(16)}_{hexes(40)}"),
    key("postman", "PM", "AK-", tail=f"{hexes(24)}-{hexes(34)}"),
    key("grafana", "gl", "sa_", tail=f"{letters(32)}_{hexes(8)}"),
    key("new-relic", "NR", "AK-", tail=letters(27).upper()),
    key("sentry", "sn", "trys_", tail=letters(60)),
    key("dynatrace", "dt0", "c01.", tail=f"{letters(24).upper()}.{letters(64).upper()}"),
    key("slack", "xo", "xb-", tail=f"123456789012-{letters(24)}"),
    key("slack", "xa", "pp-", tail=f"1-A0-{letters(24)}"),
    key("webhook", "https://hooks.slack.com/", "services/", tail=f"T0001/B0002/{letters(24)}"),
    key("webhook", "https://discord.com/", "api/webhooks/", tail=f"123456/{letters(60)}"),
    key("webhook", "https://open.feishu.cn/", "open-apis/bot/v2/hook/", tail=UUID),
    key("webhook", "https://oapi.dingtalk.com/", "robot/send?access_token=", tail=hexes(64)),
    key("webhook", "https://qyapi.weixin.qq.com/", "cgi-bin/webhook/send?key=", tail=UUID),
    key("discord", "M", letters(25), ".G", letters(5), ".", tail=letters(38)),
    key("telegram", "123456789", ":AA", tail=letters(33)),
    key("twilio", "S", "K", tail=hexes(32)),
    key("sendgrid", "S", "G.", tail=f"{letters(22)}.{letters(43)}"),
    key("mailgun", "ke", "y-", tail=hexes(32)),
    key("mailchimp", tail=f"{hexes(32)}-us7"),
    key("brevo", "xkey", "sib-", tail=f"{hexes(64)}-{letters(16)}"),
    key("stripe", "sk", "_live_", tail=letters(24)),
    key("stripe", "wh", "sec_", tail=letters(32)),
    key("square", "EA", "AA", tail=letters(60)),
    key("square", "sq", "0atp-", tail=letters(22)),
    key("shopify", "sh", "pat_", tail=hexes(32)),
    key("facebook", "EA", "AC", tail=letters(120)),
    key("twitter", "A" * 22, tail=letters(80)),
    key("dropbox", "s", "l.", tail=letters(130)),
    key("notion", "ntn", "_", tail=letters(46)),
    key("linear", "lin", "_api_", tail=letters(40)),
    key("airtable", "pa", "t", letters(14), ".", tail=hexes(64)),
    key("figma", "fi", "gd_", tail=letters(40)),
    key("hubspot", "pat", "-na1-", tail=UUID),
    key("typeform", "tf", "p_", tail=letters(44)),
    key("contentful", "CF", "PAT-", tail=letters(43)),
    key("readme", "rd", "me_", tail=lower(70)),
    key("shippo", "shi", "ppo_live_", tail=hexes(40)),
    key("easypost", "EZ", "AK", tail=letters(54)),
    key("duffel", "duf", "fel_test_", tail=letters(43)),
    key("flutterwave", "FLW", "SECK_TEST-", tail=letters(32)),
    key("frameio", "fi", "o-u-", tail=letters(64)),
    key("adafruit", "ai", "o_", tail=letters(28)),
    key("mapbox", "s", "k.eyJ", tail=f"{letters(60)}.{letters(22)}"),
    key("json-web-token", "ey", "JhbGciOiJIUzI1", tail=f"{letters(8)}.eyJzdWIi{letters(20)}.{letters(40)}"),
    key("named-key", "--api", "_key=", tail="hunter2hunter2", after=" --epochs 3"),
    key("named-key", "WANDB_API", "_KEY: ", tail="abc123def"),
    key("named-key", "pass", "word = '", tail="correcthorse", after="'"),
    key("named-key", '"secret', '_key": "', tail="s3cr3t", after='"'),
    key("named-key", "AWS_SECRET", "_ACCESS_KEY=", tail="wJalrXUt" + LETTERS),
    key("named-key", "auth-to", "ken:", tail="deadbeef"),
    key("named-key", "PGPASS", "WORD=", tail="hunter3"),
    key("named-key", "X-Api", "-Key: ", tail="hunter4"),
    key("named-token", "WANDB_TO", "KEN=", tail="abcd1234"),
    key("named-token", "'hub_to", "ken': '", tail="a1b2c3d4e5", after="'"),
    key("option-of-a-command", "--to", "ken ", tail="abcdefghabcd"),
    key("option-of-a-command", "--hub_to", "ken ", tail="abcdefgh", after=" --x 1"),
    key("option-of-a-command", "--pass", "word ", tail="hunter2"),
    key("login", "docker login -u me ", "-p ", tail="hunter2hunter2", after=" registry.example.com"),
    key("login", "$ wandb ", "login ", tail=HEX * 2),
    key("login", "wandb ", "login --relogin ", tail=HEX * 2),
    key("login", "sshpass ", "-p ", tail="hunter5", after=" ssh x"),
    key("login", "curl -s ", "-u me:", tail="hunter6", after=" https://example.com"),
    key("netrc", "machine x.example.com login me pass", "word ", tail="hunter7"),
    key("cookie", "Set-Coo", "kie: session=", tail="abcd1234", after="; Path=/"),
    key("cookie", "'Coo", "kie': 'sid=", tail="hunter2", after="'"),
    key("signature", "https://x.blob.core.windows.net/c/f?sv=2024&s", "ig=", tail="abcd%2F1234%3D"),
    key("signature", "https://b.s3.amazonaws.com/k?X-Amz-", "Signature=", tail=hexes(64), after="&x=1"),
    key("signature", "AccountName=a;Account", "Key=", tail="abcd1234==", after=";"),
    key("authorization", "Authori", "zation: Bearer ", tail="abcd1234efgh"),
    key("authorization", "sent with Bea", "rer ", tail=letters(30)),
    key("credentials-in-an-address", "git clone https://me:", tail="hunter2", after="@example.com/x.git"),
    key("credentials-in-an-address", "redis://", ":", tail="hunter8", after="@127.0.0.1:6379"),
)
MACHINE: tuple[Planted, ...] = (
    Planted("user-at-host", "zoltan@gx17:~$ ls", "gx17"),
    Planted("mail-address", "author jane.doe+x@example.com wrote", "jane"),
    Planted("user-at-an-address", "root@localhost: done", "root@"),
    Planted("user-at-an-address", "scp zoltan@203.0.113.9:x y", "zoltan"),
    Planted("mail-address", "https://example.com/zoltan@example.org/x", "zoltan"),
    Planted("private-network-address", "endpoints 10.10.0.3:60003,10.10.0.4:60004", "10.10.0"),
    Planted("private-network-address", "bound 192.168.1.17", "192.168"),
    Planted("private-network-address", "172.16.5.4 and 172.31.255.1", "172."),
    Planted("public-network-address", "tcp://203.0.113.7", "203.0.113"),
    Planted("public-network-address", "listening on 203.0.113.7", "203.0.113"),
    Planted("public-network-address", "master_addr=203.0.113.7", "203.0.113"),
    Planted("public-network-address", "peer 198.51.100.23:29500 joined", "198.51"),
    Planted("network-address-6", "fe80::1ff:fe23:4567:890a%eth0", "fe23"),
    Planted("network-address-6", "2001:db8:85a3:0:0:8a2e:370:7334", "8a2e"),
    Planted("network-address-6", "[2001:db8::7334]:29500", "7334"),
    Planted("hardware-address", "ether 0c:42:a1:5e:9b:f0 txqueuelen", "a1:5e"),
    Planted("hardware-address", "0C-42-A1-5E-9B-F0", "A1-5E"),
    Planted("host-of-nccl", "dgx-a100-07:4242:4299 [0] NCCL INFO NET/IB : Using", "a100-07"),
    Planted("user-of-a-batch-system", "SLURM_JOB_USER=jdoe", "jdoe"),
    Planted("user-of-a-batch-system", "USER=zoltan", "zoltan"),
    Planted("host-of-a-batch-system", "HOSTNAME=zermatt", "zermatt"),
    Planted("host-of-a-batch-system", "SLURMD_NODENAME=gx19", "gx19"),
    Planted("place-of-a-batch-system", "SLURM_JOB_NODELIST=zgpu[001-004,017]", "zgpu"),
    Planted("place-of-a-batch-system", "SLURM_JOB_ACCOUNT=zacct", "zacct"),
    Planted("machine-by-its-name", "node: zgpu-node-07", "zgpu-node"),
    Planted("machine-by-its-name", '"hostname": "dgx17"', "dgx17"),
    Planted("internal-host", "initialized host zgx18.cluster.local", "zgx18"),
    Planted("internal-host", "ssh zgpu-01.corp", "zgpu-01"),
    Planted("internal-host", "zdb.internal:5432", "zdb"),
    Planted("host-of-open-mpi", "[prterun-dgxnode-a7-4711@1,0]<stdout>: step", "dgxnode-a7"),
    Planted("host-of-open-mpi", "[1,0][dgxnode7:4711]<stderr>: step", "dgxnode7"),
    Planted("host-of-open-mpi", "[dgxnode7:04711] *** Process received signal ***", "dgxnode7"),
    Planted("host-of-a-socket", "client [zgx20]:29500 failed", "zgx20"),
    Planted("job-of-a-cluster", "job-0bb6" + HEX + " started", "0bb6"),
    Planted("job-of-a-cluster", "17.app-user-20220601-abc--train_conv_paddlecloud", "20220601"),
    Planted("path", "/home/crimson/models/x.pt", "crimson"),
    Planted("path", "reading '/ro" + "ot/paddlejob/workspace/a.py'", "paddlejob"),
    Planted("path", "/home/disk1/task_data/history/20220601/12.app-user-x/logs", "task_data"),
    Planted("path", "file:/Users/jane/x", "jane"),
    Planted("path", "/mnt/nfs/zteam/run", "zteam"),
    Planted("path-of-windows", "C:\\Users\\jane\\x.pt", "jane"),
    Planted("path-of-windows", "at \\\\fileserver\\share\\jane", "jane"),
)
PLANTED = (*KEYS, *MACHINE)
