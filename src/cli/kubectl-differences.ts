/**
 * Commands and flags of kubectl 1.32 that ctl does not have, each with what to do instead. The message of an
 * unknown command or flag ends with this text. test/integration/cli/kubectl-verbs.test.ts compares this table
 * with the real kubectl: an entry that is missing here, or that ctl has meanwhile, fails it.
 */

const notYet = 'ctl does not have it yet; kubectl works with the same kubeconfig';
const noFunctions = 'ctl runs no functions, plugins or containers for a kustomization';
const noHelm =
  'ctl runs no Helm for a kustomization; helm template does: helm template CHART | minik8s ctl apply -f -';
const local = 'ctl changes objects of the server only; --dry-run=client -o yaml prints the changed object';
const version = 'it is checked by ctl itself: a conflict is retried with the newest object';

/** Returns the same refusal for each of the words. */
const allNotYet = (words: string): Readonly<Record<string, string>> =>
  Object.fromEntries(words.split(' ').map((word) => [word, notYet]));

/** Refusals that hold for every command which has the flag in kubectl. */
const everywhere: Readonly<Record<string, string>> = {
  '--local': local,
  '--resource-version': version,
  '--windows-line-endings': 'ctl writes lines that end as on the machine it runs on, which is Linux',
  '--use-protocol-buffers': 'ctl reads metrics as JSON',
  '--cached': 'ctl asks the server for its resources each time',
};

/** Refusals by command, without the name of the program; the empty name is ctl itself. */
const byCommand: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    alpha: "kubectl's alpha commands change from version to version; ctl has none",
    debug: notYet,
    proxy: notYet,
    '--disable-compression': 'ctl asks for answers without compression',
    '--log-flush-frequency': 'ctl writes no log',
    '--match-server-version': 'ctl works with servers of other versions; ctl version shows both',
    '--password': 'the server has no basic authentication; use a token or a client certificate',
    '--username': 'the server has no basic authentication; use a token or a client certificate',
    '--profile': "ctl has no Go profiles; set NODE_OPTIONS='--cpu-prof' for one of Node",
    '--profile-output': "ctl has no Go profiles; set NODE_OPTIONS='--cpu-prof' for one of Node",
    '--vmodule': 'ctl has one log level for all of it: -v',
    '--warnings-as-errors': notYet,
  },
  apply: {
    ...allNotYet(
      'edit-last-applied set-last-applied view-last-applied --all --cascade --force ' +
        '--grace-period --prune --prune-allowlist --selector -l --subresource --timeout ' +
        '--wait',
    ),
    '--openapi-patch': 'ctl always merges by the schemas that the server publishes',
    '--overwrite': 'ctl always resolves differences in favor of the manifest',
  },
  'api-resources': {
    ...allNotYet('--categories --sort-by --verbs'),
  },
  autoscale: {
    ...allNotYet('--save-config'),
  },
  'cluster-info': {
    ...allNotYet('dump'),
  },
  config: {
    ...allNotYet(
      'delete-cluster delete-context delete-user get-clusters get-users rename-context ' +
        'set set-cluster set-credentials unset',
    ),
  },
  'config view': {
    ...allNotYet('--allow-missing-template-keys --flatten --merge --show-managed-fields --template'),
  },
  create: {
    ...allNotYet('--edit --raw --save-config --selector -l'),
  },
  delete: {
    ...allNotYet('--interactive -i --raw'),
  },
  diff: {
    ...allNotYet(
      '--concurrency --field-manager --force-conflicts --prune --prune-allowlist ' +
        '--selector -l --server-side',
    ),
  },
  edit: {
    ...allNotYet(
      '--allow-missing-template-keys --output-patch --save-config --show-managed-fields ' +
        '--subresource --template',
    ),
  },
  explain: {
    ...allNotYet('--output'),
  },
  expose: {
    ...allNotYet('--overrides --override-type'),
  },
  get: {
    ...allNotYet('--output-watch-events'),
  },
  kustomize: {
    ...Object.fromEntries(
      '--as-current-user --enable-alpha-plugins --env -e --mount --network --network-name'
        .split(' ')
        .map((flag) => [flag, noFunctions]),
    ),
    ...Object.fromEntries(
      '--enable-helm --helm-api-versions --helm-command --helm-debug --helm-kube-version'
        .split(' ')
        .map((flag) => [flag, noHelm]),
    ),
  },
  logs: {
    ...allNotYet('--ignore-errors --insecure-skip-tls-verify-backend --pod-running-timeout'),
  },
  replace: {
    ...allNotYet('--cascade --raw --save-config --subresource --wait'),
  },
  run: {
    ...allNotYet(
      '--cascade --expose --field-manager --filename -f --force --grace-period ' +
        '--kustomize -k --override-type --overrides --recursive -R --save-config --timeout --wait',
    ),
  },
  scale: {
    ...allNotYet('--timeout'),
  },
  'set env': {
    ...allNotYet('--resolve'),
  },
  'top node': {
    ...allNotYet('--show-capacity'),
  },
};

/** Returns the reason why a command has no such sub-command or flag; undefined if kubectl has none either. */
export function refusalOf(command: string, word: string): string | undefined {
  const path = command.replace(/^ctl ?/, '');
  const own = byCommand[path]?.[word] ?? (word.startsWith('-') ? byCommand['']?.[word] : undefined);
  return own ?? everywhere[word];
}

/** Returns all refusals of a command, for the test of this table. */
export const refusalsOf = (path: string): readonly string[] => Object.keys(byCommand[path] ?? {});

/** Paths of the commands that have refusals of their own. */
export const refusingCommands: readonly string[] = Object.keys(byCommand);
