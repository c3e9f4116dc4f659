/** Mistakes of beginners that ctl and the API server answer, and what the answer must contain. */
import { createAuthority } from '../../../src/pki/x509.ts';

export interface Mistake {
  readonly what: string;
  readonly command: string;
  /** Standard input. */
  readonly input?: string;
  /** Texts that the output must contain. */
  readonly says: readonly RegExp[];
  /** Exit status; 1 by default. */
  readonly status?: number;
}

const deployment = (spec: string, container = '') =>
  `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
${spec}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx
${container}`;

const configMap = (data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata:\n${data}`;
const service = (spec: string) => `apiVersion: v1\nkind: Service\nmetadata: {name: other}\nspec: ${spec}\n`;
const apply = 'apply -f -';

export const manifests: readonly Mistake[] = [
  {
    what: 'a mistyped kind',
    command: apply,
    input: 'apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: web}\n',
    says: [/STDIN:1: .*did you mean Deployment \(apps\/v1\)\?/],
  },
  {
    what: 'a mistyped field',
    command: apply,
    input: deployment('  replics: 2'),
    says: [/STDIN:5: unknown field "spec\.replics"; did you mean replicas\?/],
  },
  {
    what: 'a tab',
    command: apply,
    input: deployment('\treplicas: 2'),
    says: [/STDIN:5: .*[Tt]abs are not allowed.*; indent with spaces/],
  },
  {
    what: 'a line that is indented too far',
    command: apply,
    input: deployment('  replicas: 2\n   paused: true'),
    says: [/STDIN:[56]: .*; line 6 is indented further than line 5, which has a value already/],
  },
  {
    what: 'a key that is given twice',
    command: apply,
    input: configMap('  level: a\n  level: b\n'),
    says: [/the key data\.level is given twice; keep one/],
  },
  {
    what: 'words that YAML reads as booleans',
    command: apply,
    input: configMap('  a: no\n  b: on\n'),
    says: [/STDIN:5: data\.a: YAML reads no as false; write "no"/, /STDIN:6: data\.b: YAML reads on as true/],
  },
  {
    what: 'a word for a number, a line for a list',
    command: apply,
    input: deployment('  replicas: "two"', '        command: ls -l\n'),
    says: [
      /STDIN:5: spec\.replicas: expected a whole number, got "two"/,
      /STDIN:13: \S+command: expected a list, got a string; write command: \["ls", "-l"\]/,
    ],
  },
  {
    what: 'containers that are not a list',
    command: apply,
    input:
      'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n    name: c\n    image: i\n',
    says: [/STDIN:5: spec\.containers: expected a list, got a mapping; begin each item with "- "/],
  },
  {
    what: 'a number where a string belongs',
    command: apply,
    input: configMap('  level: 7\n'),
    says: [/STDIN:5: data\.level: expected a string, got the number 7; put it in quotes/],
  },
  {
    what: 'several faults of one object',
    command: apply,
    input:
      'apiVersion: v1\nkind: Pod\nmetadata: {name: A_b}\nspec: {restartPolicy: Often, containers: [{name: c, image: i, ports: [{containerPort: 70000}]}]}\n',
    says: [/\* metadata\.name: .*"A_b"/, /\* spec\.restartPolicy: .*"Often"/, /\* \S+containerPort: .*70000/],
  },
  {
    what: 'a unit of memory that does not exist',
    command: apply,
    input: deployment('  replicas: 1', '        resources: {limits: {memory: 64mb}}\n'),
    says: [/STDIN:13: \S+limits\.memory: .*did you mean 64Mi or 64M\?/],
  },
  {
    what: 'CPUs with a word',
    command: apply,
    input: deployment('  replicas: 1', '        resources: {limits: {cpu: 2 cores}}\n'),
    says: [/STDIN:13: \S+limits\.cpu: .*did you mean 2\?/],
  },
  {
    what: 'a node port in use',
    command: apply,
    input: service('{type: NodePort, ports: [{port: 80, nodePort: 30080}]}'),
    says: [/spec\.ports\[0\]\.nodePort: Invalid value: 30080: provided port is already allocated/],
  },
  {
    what: 'a node port out of range',
    command: apply,
    input: service('{type: NodePort, ports: [{port: 80, nodePort: 80}]}'),
    says: [/nodePort: Invalid value: 80: .* The range of valid ports is 30000-32767/],
  },
  {
    what: 'an address of a Service out of range',
    command: apply,
    input: service('{clusterIP: 10.0.0.1, ports: [{port: 80}]}'),
    says: [/failed to allocate IP 10\.0\.0\.1: .* range of valid IPs is 10\./],
  },
  {
    what: 'a schedule in words, and pods of a job that always restart',
    command: apply,
    input:
      'apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {schedule: every day, jobTemplate: {spec: {template: {spec: {restartPolicy: Always, containers: [{name: c, image: i}]}}}}}\n',
    says: [
      /spec\.schedule: Invalid value: "every day": expected exactly 5 fields, found 2/,
      /restartPolicy: .*valid values: "OnFailure", "Never"/,
    ],
  },
  {
    what: 'nothing but comments',
    command: apply,
    input: '# later\n',
    says: [/no objects passed to apply: STDIN is empty, or has only comments$/m],
  },
  {
    what: 'nothing, which is to replace objects,',
    command: 'replace -f -',
    says: [/no objects passed to replace: STDIN is empty, or has only comments$/m],
  },
  {
    what: 'objects of which none has the labels',
    command: 'apply -f - -l app=shop',
    input: configMap('  a: b\n'),
    says: [/no objects passed to apply: no object in STDIN has the labels of -l app=shop$/m],
  },
  {
    what: 'no selector',
    command: apply,
    input: deployment('  replicas: 1').replace(/^ {2}selector: .*\n/m, ''),
    says: [
      /spec\.selector: Required value\nNote: STDIN:4: select the pods .*: \{matchLabels: \{app: web\}\}$/m,
    ],
  },
  {
    what: 'a workflow with several faults',
    command: apply,
    input:
      'apiVersion: minik8s.io/v1\nkind: Workflow\nmetadata: {name: w}\nspec: {definition: {StartAt: A, States: {A: {Type: Task, Resource: "function:f", Next: C}, B: {Type: Tsk}}}}\n',
    says: [
      /\n\* spec\.definition\.States\.A\.Next: .*"C"/,
      /\n\* spec\.definition\.States\.B\.Type: .*"Tsk"/,
    ],
  },
];

/** Lines that lack a word or have one too many, and what the answer must contain. */
const commandLines: readonly { readonly command: string; readonly says: RegExp }[] = [
  { command: 'delete pods', says: /no name was specified: name them, or use -l or --all$/m },
  { command: 'delete single', says: /type instead: minik8s ctl delete pod single$/m },
  { command: 'exec single ls -l', says: /type instead: minik8s ctl exec single -- ls -l$/m },
  { command: 'events pod/single', says: /type instead: minik8s ctl events --for pod\/single$/m },
  { command: 'create pod web', says: /type instead: minik8s ctl run web --image=IMAGE$/m },
  { command: 'rollout restart here', says: /type instead: minik8s ctl rollout restart deployment here$/m },
  {
    command: 'scale here --replicas 2',
    says: /type instead: minik8s ctl scale deployment here --replicas 2$/m,
  },
  {
    command: 'explain pod.spec.contaners',
    says: /field "contaners" does not exist; did you mean containers\?/,
  },
  {
    command: 'explain pod.spec.contaners --output=plaintext-openapiv2',
    says: /field "contaners" does not exist; did you mean containers\?/,
  },
  { command: 'get pods -o jsn', says: /output format "jsn": allowed formats are: .*; did you mean json\?/ },
  { command: 'config use-context nosuch', says: /"nosuch"; minik8s ctl config get-contexts lists them/ },
  {
    command: 'create configmap cm --from-file=/nosuch',
    says: /^error: error reading \/nosuch: no such file or directory$/m,
  },
  {
    command: 'set env deployment/here A',
    says: /^error: "A" changes no variable: write A=VALUE to set it, or A- to remove it$/m,
  },
  {
    command: 'set resources deployment/here --limits=memory=64mb',
    says: /memory=64mb: expected an amount such as 2, 500m or 64Mi; .*did you mean 64Mi or 64M\?/,
  },
  { command: 'create quota q --hard=pods=many', says: /pods=many: expected an amount such as 2/ },
  { command: 'expose deployment here', says: /couldn't find port .*; give one with --port=PORT/ },
  { command: 'cp a b', says: /must be a remote file specification: POD:PATH/ },
  { command: 'function create hello', says: /give the program, --from DIRECTORY or --from FILE\.zip/ },
  {
    command: 'wait pod/single --for=condition=Ready --timeout=1s',
    says: /^Note: pods\/single: it waits for the scheduler default-scheduler\nerror: timed out waiting/m,
  },
];

export const commands: readonly Mistake[] = [
  ...commandLines.map(({ command, says }) => ({ what: `the line ${command}`, command, says: [says] })),
  {
    what: 'a list of a namespace that does not exist',
    command: 'get pods -n nosuchns',
    says: [/namespace "nosuchns" does not exist; minik8s ctl get namespaces lists those that do/],
    status: 0,
  },
  {
    what: 'an apply into a namespace that does not exist',
    command: 'apply -n nosuchns -f -',
    input: configMap('  a: b\n'),
    says: [/namespaces "nosuchns" not found/, /Note: .*: minik8s ctl create namespace nosuchns$/m],
  },
  {
    what: 'an object of another namespace',
    command: 'get deployment elsewhere',
    says: [/deployments\.apps "elsewhere" exists in namespace shop; use -n shop/],
  },
  {
    what: 'a pod that is scaled',
    command: 'scale pod single --replicas=3',
    says: [/cannot scale pods: they have no replicas/],
  },
  {
    what: 'an image of a container that does not exist',
    command: 'set image deployment/here wbe=nginx',
    says: [/unable to find container named "wbe"/],
  },
  {
    what: 'an undo to a revision that does not exist',
    command: 'rollout undo deployment/here --to-revision=9',
    says: [/unable to find specified revision 9 in history/],
  },
  {
    what: 'a port above 65535',
    command: 'port-forward single 99999:80',
    says: [/'99999': expected a number up to 65535/],
  },
  {
    what: 'the namespace default that is deleted',
    command: 'delete namespace default',
    says: [/this namespace may not be deleted/],
  },
  {
    what: 'a kubeconfig that does not exist',
    command: 'get pods --kubeconfig /nonexistent',
    says: [/kubeconfig \/nonexistent does not exist/],
  },
  {
    what: 'an identity without rights',
    command: 'get pods --as eve',
    says: [/User "eve" cannot list resource "pods" in API group "" in the namespace "default"/],
  },
  {
    what: 'a token without rights',
    command: 'create token default --as eve',
    says: [/serviceaccounts\/token "default" is forbidden: User "eve" cannot create/],
  },
  {
    what: 'an invalid token',
    command: 'get pods --token nonsense',
    says: [/the server does not accept the token of context \S+: it is not this cluster's/],
  },
  {
    what: 'an invalid argument of a call',
    command: 'function invoke hello {x',
    says: [/the argument of a call must be JSON, such as '\{"name": "you"\}': /],
  },
  {
    what: 'a function from an empty folder',
    command: 'function create hello --from EMPTY',
    says: [/there is no program in \S+: no main\.py \(Python\) and no main\.js \(Node\.js\)/],
  },
  ...['function', 'workflow', 'trigger'].map((group) => ({
    what: `the word list of other clients after ${group}`,
    command: `${group} list`,
    says: [new RegExp(`unknown command list: did you mean minik8s ctl ${group} get\\?`)],
  })),
  {
    what: 'the word list of other clients for images',
    command: 'image list',
    says: [/unknown command list: did you mean minik8s ctl image ls\?/],
  },
];

/** An authority that has signed nothing, as a kubeconfig contains it. */
const { certificate } = await createAuthority('other', Date.now() - 60_000, Date.now() + 3_600_000);
const otherAuthority = Buffer.from(certificate).toString('base64');

/** Contents of kubeconfigs, made from a valid one, and the answers to `get pods`. */
export const kubeconfigs: readonly {
  readonly what: string;
  readonly change: (text: string) => string;
  readonly says: RegExp;
}[] = [
  { what: 'is not YAML', change: () => 'a: [\n', says: /kubeconfig FILE is not YAML: / },
  { what: 'is empty', change: () => '', says: /kubeconfig FILE: no contexts are defined; name another file/ },
  {
    what: 'has no current context',
    change: (text) => text.replace(/"current-context":\s*"[^"]*",?|,\s*"current-context":\s*"[^"]*"/, ''),
    says: /kubeconfig FILE: no context is current; choose one of \S+ with --context/,
  },
  {
    what: 'names a cluster that it lacks',
    change: (text) => text.replace(/"cluster":\s*"[^"]*"/, '"cluster":"absent"'),
    says: /kubeconfig FILE: context "\w+" names an unknown cluster absent; clusters: \w+$/m,
  },
  {
    what: 'has no server',
    change: (text) => text.replace(/"server":\s*"[^"]*",?/, ''),
    says: /kubeconfig FILE: cluster "\w+" has no server; set it with minik8s ctl config set-cluster \w+ --server=/,
  },
  {
    what: 'has the authority of another cluster',
    change: (text) => text.replace(/("certificate-authority-data":\s*")[^"]*/, `$1${otherAuthority}`),
    says: /cannot reach the API server at \S+: its certificate is not signed by the given authority$/m,
  },
  {
    what: 'names http',
    change: (text) => text.replaceAll('https://', 'http://'),
    says: /if the server speaks TLS, as minik8s does, write https:\/\/127\.0\.0\.1:\d+/,
  },
  {
    what: 'names a port at which nothing listens',
    change: (text) => text.replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, 'https://127.0.0.1:1'),
    says: /cannot reach the API server at https:\/\/127\.0\.0\.1:1: connection refused; is it running\?/,
  },
];
