/** Mistakes of beginners that need a cluster with containers, and the required contents of each answer. */

const pod = (name: string, container: string, spec = '') => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec: {${spec}terminationGracePeriodSeconds: 1, containers: [{name: c, image: "minik8s/hello:1", ${container}}]}
---
`;
const service = (name: string, selector: string, targetPort: string) => `apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec: {selector: {app: ${selector}}, ports: [{port: 80, targetPort: ${targetPort}}]}
---
`;
const mount = 'volumeMounts: [{name: v, mountPath: /v}]';

/** A Deployment whose pods serve on 8080, and objects of which each has one mistake. */
export const manifest = [
  `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: web, image: "minik8s/hello:1", ports: [{containerPort: 8080}]}]
---
`,
  pod('no-image', 'imagePullPolicy: Always').replace('minik8s/hello:1', '127.0.0.1:1/none:1'),
  pod('crash', 'command: [sh, -c, "echo bye; exit 3"]'),
  pod('no-map', 'envFrom: [{configMapRef: {name: absent}}]'),
  pod('no-secret', mount, 'volumes: [{name: v, secret: {secretName: absent}}], '),
  pod('no-path', mount, 'volumes: [{name: v, hostPath: {path: /absent, type: Directory}}], '),
  pod('one-word', 'command: ["ls -l"]'),
  pod('wrong-probe', 'readinessProbe: {httpGet: {port: 81}, periodSeconds: 1}'),
  pod(
    'large-log',
    'command: [sh, -c, "yes 0123456789012345678901234567890123456789 | head -n 400000; sleep 9999"]',
  ),
  service('wrong-port', 'web', '81'),
  service('wrong-name', 'web', 'http'),
  service('no-match', 'wbe', '8080'),
  `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: no-class}
spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
`,
].join('');

export interface Mistake {
  readonly line: string;
  readonly says: RegExp;
}

const ctl = 'minik8s ctl';

/** Each line is repeated until it prints what is expected, since a mistake shows only after some time. */
export const ofPods: readonly Mistake[] = [
  { line: `${ctl} describe pod no-image`, says: /Failed to pull image "127\.0\.0\.1:1\/none:1": .*refused/ },
  {
    line: `${ctl} logs no-image`,
    says: /is waiting to start: .*\nNote: Back-off pulling image .*: connection refused|is waiting to start: ErrImagePull\nNote: .*refused/i,
  },
  {
    line: `${ctl} exec no-image -- ls`,
    says: /is not running: it has not started yet \((ErrImagePull|ImagePullBackOff): .*refused/,
  },
  {
    line: `${ctl} describe service wrong-port`,
    says: /TargetPort: +81\/TCP \(no container of its pods declares this port; declared: 8080\/TCP\)/,
  },
  {
    line: `${ctl} describe service wrong-name`,
    says: /TargetPort: +http\/TCP \(no container of its pods declares this port; declared: 8080\/TCP\)/,
  },
  {
    line: `${ctl} describe service no-match`,
    says: /Endpoints: +<none> \(no running pod has the labels app=wbe\)/,
  },
  { line: `${ctl} exec crash -- ls`, says: /it has ended with exit code 3 and waits to be restarted/ },
  { line: `${ctl} logs crash -p`, says: /^bye$/m },
  { line: `${ctl} describe pod no-map`, says: /Error: configmap "absent" not found/ },
  { line: `${ctl} describe pod no-secret`, says: /MountVolume.*secret "absent" not found/ },
  { line: `${ctl} describe pod no-path`, says: /hostPath type check failed: \/absent is not a directory/ },
  { line: `${ctl} describe pod one-word`, says: /exec: "ls -l": (executable file not found|No such file)/ },
  { line: `${ctl} describe pod wrong-probe`, says: /Readiness probe failed: .*:81\/": .*connection refused/ },
  { line: `${ctl} describe pvc no-class`, says: /storageclass\.storage\.k8s\.io "fast" not found/ },
  { line: `${ctl} logs deployment/web -c wbe`, says: /container wbe is not valid for pod web-/ },
  { line: `${ctl} exec deployment/web -c wbe -- ls`, says: /container wbe is not valid for pod web-/ },
  {
    line: `timeout 5 ${ctl} port-forward deployment/web 10250:8080`,
    says: /Unable to listen on port 10250: .*: address already in use/,
  },
  { line: `${ctl} cp crash-not-there:/x /var/tmp/x`, says: /pods "crash-not-there" not found/ },
  {
    line: `${ctl} cp large-log:/absent /var/tmp/x`,
    says: /there is no \/absent in container c of pod large-log/,
  },
  { line: `${ctl} logs large-log | wc -c`, says: /^16400000$/m },
  {
    line: `${ctl} set image deployment/web web=127.0.0.1:1/none:2; timeout 40 ${ctl} rollout status deployment/web`,
    says: /Note: pod\/web-\S+: the image 127\.0\.0\.1:1\/none:2 cannot be pulled: .*ImagePull.*refused/,
  },
];

export const ofMinik8s: readonly Mistake[] = [
  { line: 'minik8s up', says: /is used by minik8s with process id \d+; stop it or give another --data-dir/ },
  {
    line: 'minik8s up --data-dir /var/other',
    says: /another minik8s runs as a node on this machine with process id \d+; stop it first/,
  },
  {
    line: 'minik8s master --data-dir /var/other',
    says: /port 6443 of 0\.0\.0\.0 is taken by another process; free it or give another --port/,
  },
  {
    line: 'minik8s node --data-dir /var/other',
    says: /no server is given: run minik8s token create on a master/,
  },
  {
    line: 'minik8s up --data-dir /var/other --docker-socket /absent.sock',
    says: /no Docker engine answers at \/absent\.sock .*; start it \(systemctl start docker, or dockerd\)/,
  },
  {
    line: 'setpriv --reuid 65534 --regid 65534 --clear-groups minik8s up --data-dir /var/other',
    says: /sets up links and firewall rules: run it as root \(sudo\)/,
  },
  { line: 'minik8s reset --yes', says: /minik8s runs as process \d+; stop it first \(minik8s stop\)/ },
  {
    line: 'echo "ports: 1" >/var/tmp/typo.yaml; minik8s up --config /var/tmp/typo.yaml',
    says: /\/var\/tmp\/typo\.yaml: line \d+: ports: no such setting \(did you mean port\?\)/,
  },
  { line: 'minik8s get pods', says: /unknown command get: did you mean minik8s ctl get pods\?/ },
  { line: 'minik8s convert -f x', says: /unknown command convert: did you mean minik8s ctl convert -f x\?/ },
  {
    line: 'minik8s ctl user list',
    says: /unknown command user: did you mean minik8s user list, without ctl\?/,
  },
  { line: 'minik8s statsu', says: /unknown command statsu: did you mean status\?/ },
];

/** Python programs by the name of the function, each with a mistake; `throws` is called. */
export const programs: Readonly<Record<string, string>> = {
  syntax: 'def handler(event, context)\n    return 1\n',
  handler: 'def other(event, context):\n    return 1\n',
  throws: 'def handler(event, context):\n    return event["name"]\n',
};

const create = (name: string) => `${ctl} function create ${name} --from ${name} --wait`;

export const ofFunctions: readonly Mistake[] = [
  { line: create('syntax'), says: /^error: main\.py:1: SyntaxError: expected ':'$/m },
  { line: `${ctl} describe function syntax`, says: /^Last Error: +main\.py:1: SyntaxError: expected ':'$/m },
  { line: create('handler'), says: /the module main has no function handler/ },
  {
    line: `${create('throws')}; ${ctl} function invoke throws`,
    says: /^error: function throws failed: KeyError: 'name'$/m,
  },
  {
    line: `${ctl} trigger create folder --function throws --file-folder /srv/in`,
    says: /watched on each node whose --watch-folder allows it; minik8s ctl describe trigger folder shows/,
  },
  {
    line: `${ctl} describe trigger folder`,
    says: /no node watches the folder: vm1 \(no --watch-folder of the node allows \/srv\/in\)/,
  },
];

/** Lines that are typed while Docker does not run. */
export const withoutDocker: readonly Mistake[] = [
  {
    line: `${ctl} describe node vm1`,
    says: /KubeletNotReady .*Docker .*it does not run .*start it on the node \(systemctl start docker, or dockerd\)/,
  },
  {
    line: `${ctl} logs large-log`,
    says: /cannot read the log of container "c" in pod "large-log": Docker .*it does not run/,
  },
  { line: 'minik8s status', says: /! the Docker engine does not answer: / },
  {
    line: 'minik8s doctor',
    says: /fault +(vm1: )?docker-answers: no Docker engine answers at \/var\/run\/docker\.sock/,
  },
];
