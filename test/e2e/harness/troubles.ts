/** Provokes each error of docs/troubleshooting.md on a cluster of one node, and applies the advice. */
import { certificateTroubles } from './certificate-troubles.ts';

export interface Trouble {
  /** Words of the entry's text. */
  readonly entry: string;
  /** Expected output of each command of the entry; undefined for a command that cannot be run here. */
  readonly commands?: Readonly<Record<string, RegExp | undefined>>;
  /** Values for placeholders in the commands. */
  readonly replace?: Readonly<Record<string, string>>;
  readonly errors?: readonly Provoked[];
  /**
   * File of the test that provokes the error, if it requires another cluster; only the commands are run here.
   */
  readonly elsewhere?: string;
}

export interface Provoked {
  /** A line of bash that prints the text; with `shown`, it may print it later. */
  readonly line: string;
  /** Words of the cause in the output, if the entry lists causes. */
  readonly cause?: string;
  /** A line of bash that follows the advice of the entry. */
  readonly advice: string;
  /** Expected output of the advice; with `shown`, the expected output of that line, at once or later. */
  readonly ends: RegExp;
  readonly shown?: string;
}

const pod = (name: string, more: object, container: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    ...more,
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'c', image: 'minik8s/hello:1', imagePullPolicy: 'IfNotPresent', ...container }],
  },
});
const asking = (cpu: string) => ({ resources: { requests: { cpu } } });
const onPort = (hostPort: number) => ({ ports: [{ containerPort: 8080, hostPort }] });
/** A port on which another program of the host listens. */
export const takenPort = 9090;
const nowhere = '127.0.0.1:1/nothing:1';
export const manifests = {
  'large.json': pod('large', {}, asking('1000')),
  'small.json': pod('large', {}, asking('1m')),
  'unplaced.json': pod('unplaced', { nodeSelector: { disk: 'ssd' } }),
  'pulled.json': pod('pulled', {}, { image: nowhere }),
  'taken.json': pod('taken', {}, onPort(takenPort)),
  'other.json': pod('taken', {}, onPort(takenPort + 1)),
  'gadget.json': { apiVersion: 'v1', kind: 'Gadget', metadata: { name: 'a' } },
  'map.json': { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
};

/** The next error of `up` and `node` on a host where `up` runs, once all other problems are solved. */
const inUse = /\/var\/lib\/minik8s is used by minik8s with process id/;
const ready = /^e2e +Ready /m;
const running = / 1\/1 +Running /;
const asNobody = 'setpriv --reuid=65534 --regid=65534 --clear-groups';
/** The program may be in a directory that only root can enter. */
const withAccess = '--inh-caps=+dac_override --ambient-caps=+dac_override';

const starts = (pid: number, address: string): readonly Trouble[] => [
  {
    entry: 'no Docker engine answers',
    commands: { 'systemctl start docker': undefined, 'docker version': /^Server:/m },
    errors: [
      {
        line: 'minik8s up --docker-socket /run/none.sock',
        advice: 'minik8s up --docker-socket /run/docker.sock',
        ends: inUse,
      },
    ],
  },
  {
    entry: 'run it as root',
    errors: [{ line: `${asNobody} ${withAccess} "$MINIK8S" up`, advice: 'minik8s up', ends: inUse }],
  },
  {
    entry: 'is taken by another process; free it',
    commands: {
      'ss -ltnp': new RegExp(`:6443 .*pid=${pid},`),
      'cat /var/lib/minik8s/minik8s.pid': new RegExp(`^${pid} `),
    },
    errors: [
      {
        line: 'minik8s master --data-dir "$PWD/other"',
        advice: [
          '"$MINIK8S" master --data-dir "$PWD/other" --port 7443 > other.log 2>&1 &',
          'until grep "is ready" other.log || ! kill -0 $!; do sleep 0.1; done; kill $!; wait $!',
        ].join('\n'),
        ends: /minik8s is ready: https:\S+:7443/,
      },
    ],
  },
  {
    entry: 'configure that process to listen',
    elsewhere: 'test/e2e/refused-start.test.ts',
    commands: { 'ss -lnp sport = :53': new RegExp(`:53 .*pid=${pid},`) },
  },
  {
    entry: 'another minik8s runs as a node',
    errors: [{ line: 'minik8s up --data-dir "$PWD/other"', advice: 'ctl get nodes', ends: ready }],
  },
  { entry: 'make room there', elsewhere: 'test/e2e/full-disk.test.ts' },
  {
    entry: 'is used by',
    errors: [
      {
        line: 'minik8s master',
        advice: 'minik8s master --data-dir "$PWD/other"',
        ends: /port 6443 of .* is taken/,
      },
    ],
  },
  {
    entry: 'overlap; give one of them',
    errors: [
      {
        line: 'minik8s master --data-dir "$PWD/other" --cluster-cidr 10.96.0.0/12',
        advice: 'minik8s master --data-dir "$PWD/other" --cluster-cidr 10.112.0.0/12',
        ends: /port 6443 of .* is taken/,
      },
    ],
  },
  {
    entry: 'the data directory',
    errors: [
      {
        line: 'touch file; minik8s master --data-dir "$PWD/file" --port 7443',
        advice: 'minik8s master --data-dir "$PWD/other"',
        ends: /port 6443 of .* is taken/,
      },
    ],
  },
  {
    entry: 'no such setting',
    commands: {
      'minik8s up --help': / --port PORT /,
      'minik8s master --help': / --port PORT /,
      'minik8s node --help': / --server URL/,
    },
    errors: ['prot', 'nothing'].map((key) => ({
      line: `echo '${key}: 7443' > up.yaml; minik8s up --config up.yaml`,
      advice: "echo 'port: 7443' > up.yaml; minik8s up --config up.yaml",
      ends: inUse,
    })),
  },
  {
    entry: 'unknown flag',
    errors: ['prot', 'nothing'].map((flag) => ({
      line: `minik8s up --${flag} 7443`,
      advice: 'minik8s up --port 7443',
      ends: inUse,
    })),
  },
  {
    entry: 'is no level',
    errors: ['loud', 'info,apiserver=loud'].map((level) => ({
      line: `minik8s up --log-level ${level}`,
      advice: 'minik8s up --log-level info,apiserver=debug',
      ends: inUse,
    })),
  },
  { entry: 'no component is named', elsewhere: 'test/e2e/observability.test.ts' },
  {
    entry: 'cannot be called at --gateway-port',
    elsewhere: 'test/unit/features/functions/server/gateway-port.test.ts',
    commands: { 'ss -ltnp': /^LISTEN /m },
  },
  {
    entry: 'no server is given',
    errors: [
      {
        line: 'touch node.yaml; chmod 600 node.yaml; minik8s node --config node.yaml',
        advice: 'minik8s token create > node.yaml; minik8s node --config node.yaml',
        ends: inUse,
      },
    ],
  },
  {
    entry: 'no API server answers',
    elsewhere: 'test/e2e/join.test.ts',
    replace: { MASTER: address },
    commands: { 'curl -k https://MASTER:6443/livez': /^ok/ },
  },
  {
    entry: 'it belongs to another cluster',
    elsewhere: 'test/e2e/join.test.ts',
    commands: { 'minik8s token create': /^ca-cert-hash: sha256:/m },
  },
  {
    entry: 'is not an address of this machine',
    errors: [
      {
        line: 'minik8s node --config node.yaml --node-ip 192.0.2.9',
        advice: `minik8s node --config node.yaml --node-ip ${address}`,
        ends: inUse,
      },
    ],
  },
  {
    entry: 'give --overlay host-routes on all nodes',
    elsewhere: 'test/unit/network/overlay/overlay-kernel.test.ts',
    commands: { 'ss -lnup sport = :8472': /^State / },
  },
];

const clients = (address: string): readonly Trouble[] => [
  {
    entry: 'no kubeconfig found',
    replace: { NAME: 'ann' },
    commands: {
      'export KUBECONFIG=/var/lib/minik8s/admin.conf': /^$/,
      'minik8s user create NAME': /user ann /,
    },
    errors: [
      {
        line: 'umount /var/lib/minik8s; unset KUBECONFIG; HOME=/none ctl get nodes',
        advice: 'HOME=/none; export KUBECONFIG=/var/lib/minik8s/admin.conf; ctl get nodes',
        ends: ready,
      },
    ],
  },
  {
    entry: 'cannot reach the API server',
    errors: [
      {
        cause: 'connection refused',
        line: `ctl get nodes --server https://${address}:6444`,
        advice: `ctl get nodes --server https://${address}:6443`,
        ends: ready,
      },
      {
        cause: 'its certificate is not signed',
        line: [
          'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout other.key -out other.crt -subj /CN=a',
          'ctl get nodes --certificate-authority other.crt',
        ].join('\n'),
        advice: 'ctl get nodes --kubeconfig /var/lib/minik8s/admin.conf',
        ends: ready,
      },
      ...(
        [
          ['+2y', 'its certificate has expired'],
          ['-2y', 'its certificate is not valid yet'],
        ] as const
      ).map(([shift, cause]) => ({
        cause,
        line: `faketime -f ${shift} "$MINIK8S" ctl get nodes`,
        advice: 'ctl get nodes',
        ends: ready,
      })),
      {
        cause: 'connection timed out',
        // The default would take two minutes.
        line: `sysctl -qw net.ipv4.tcp_syn_retries=1; iptables -I INPUT -p tcp --dport 6445 -j DROP; ctl get nodes --server https://${address}:6445`,
        advice: `ctl get nodes --request-timeout 1s --server https://${address}:6445; iptables -D INPUT -p tcp --dport 6445 -j DROP`,
        ends: /no whole answer within 1 s/,
      },
      {
        cause: 'no route to the host',
        line: 'ip route add unreachable 192.0.2.7; ctl get nodes --server https://192.0.2.7:6443',
        advice: 'ip route del unreachable 192.0.2.7; ctl get nodes',
        ends: ready,
      },
      {
        cause: 'no route to the network',
        line: 'ip route add throw 192.0.2.7; ctl get nodes --server https://192.0.2.7:6443',
        advice: 'ip route del throw 192.0.2.7; ctl get nodes',
        ends: ready,
      },
    ],
  },
  {
    entry: 'is almost full',
    elsewhere: 'test/conformance/store-etcd-room.test.ts',
    commands: {
      'minik8s ctl get --raw /metrics | grep apiserver_storage_objects':
        /^apiserver_storage_objects\{resource="pods"\} \d/m,
    },
  },
  {
    entry: 'take half of the store',
    elsewhere: 'test/integration/apiserver/little-room.test.ts',
  },
  {
    entry: 'Unauthorized',
    errors: [{ line: 'ctl get nodes --token wrong', advice: 'ctl get nodes', ends: ready }],
  },
  {
    entry: 'is forbidden: ',
    commands: { 'minik8s ctl auth can-i --list': /^\*\.\* /m },
    errors: [
      {
        line: 'ctl get nodes --as bob',
        advice:
          'ctl create clusterrolebinding bob --clusterrole cluster-admin --user bob; ctl get nodes --as bob',
        ends: ready,
      },
    ],
  },
  {
    entry: 'have a resource type',
    commands: { 'minik8s ctl api-resources': /^nodes +no /m },
    errors: ['nodse', 'gadgets'].map((type) => ({
      line: `ctl get ${type}`,
      advice: 'ctl get nodes',
      ends: ready,
    })),
  },
  {
    entry: 'the server has no kind',
    commands: { 'minik8s ctl api-resources': /^nodes +no /m },
    errors: [
      { line: 'ctl apply -f gadget.json', advice: 'ctl apply -f map.json', ends: /configmap\/a created/ },
    ],
  },
];

const pods: readonly Trouble[] = [
  {
    entry: 'nodes are available',
    replace: { NAME: 'e2e' },
    commands: { 'minik8s ctl describe node NAME': /^Allocatable:\n +cpu: /m },
    errors: [
      {
        line: 'ctl apply -f large.json; ctl describe pod large',
        advice: 'ctl delete pod large; ctl apply -f small.json',
        ends: running,
        shown: 'ctl get pod large',
      },
    ],
  },
  {
    entry: 'does not have a host assigned',
    replace: { NAME: 'unplaced' },
    commands: { 'minik8s ctl describe pod NAME': /node\(s\) didn't match Pod's node affinity/ },
    errors: [
      {
        line: 'ctl apply -f unplaced.json; ctl logs unplaced',
        advice: 'ctl label node e2e disk=ssd',
        ends: running,
        shown: 'ctl get pod unplaced',
      },
    ],
  },
  {
    entry: 'it does not run',
    elsewhere: 'test/e2e/faults-dockerd.test.ts',
    commands: { 'systemctl start docker': undefined },
  },
  {
    entry: 'Back-off pulling image',
    replace: { IMAGE: nowhere },
    commands: { 'docker pull IMAGE': /127\.0\.0\.1:1: connect: connection refused/ },
    errors: [
      {
        line: 'ctl apply -f pulled.json; ctl describe pod pulled',
        advice: 'ctl set image pod/pulled c=minik8s/hello:1',
        ends: running,
        shown: 'ctl get pod pulled',
      },
    ],
  },
  {
    entry: 'another hostPort',
    errors: [
      {
        line: 'ctl apply -f taken.json; ctl describe pod taken',
        advice: 'ctl delete pod taken; ctl apply -f other.json',
        ends: running,
        shown: 'ctl get pod taken',
      },
    ],
  },
];

/**
 * Returns the entries in the order of the page. `pid` is the process of `minik8s up`, `address` that of its
 * API server.
 */
export const troubles = (pid: number, address: string): readonly Trouble[] => [
  ...starts(pid, address),
  ...certificateTroubles,
  ...clients(address),
  ...pods,
];
