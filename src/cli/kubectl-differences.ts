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
const allOf = (words: string, refusal: string): Readonly<Record<string, string>> =>
  Object.fromEntries(words.split(' ').map((word) => [word, refusal]));
const allNotYet = (words: string) => allOf(words, notYet);

/** Refusals that hold for every command which has the flag in kubectl. */
const everywhere: Readonly<Record<string, string>> = {
  '--local': local,
  '--resource-version': version,
  '--windows-line-endings': 'ctl writes lines that end as on the machine it runs on, which is Linux',
  '--use-protocol-buffers': 'ctl reads metrics as JSON',
};

/** Refusals by command, without the name of the program; the empty name is ctl itself. */
const byCommand: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    alpha: "kubectl's alpha commands change from version to version; ctl has none",
    '--disable-compression': 'ctl asks for answers without compression',
    '--log-flush-frequency': 'ctl writes no log',
    '--match-server-version': 'ctl works with servers of other versions; ctl version shows both',
    '--password': 'the server has no basic authentication; use a token or a client certificate',
    '--username': 'the server has no basic authentication; use a token or a client certificate',
    '--profile': "ctl has no Go profiles; set NODE_OPTIONS='--cpu-prof' for one of Node",
    '--profile-output': "ctl has no Go profiles; set NODE_OPTIONS='--cpu-prof' for one of Node",
    '--vmodule': 'ctl has one log level for all of it: -v',
  },
  apply: {
    '--openapi-patch': 'ctl always merges by the schemas that the server publishes',
    '--overwrite': 'ctl always resolves differences in favor of the manifest',
  },
  explain: {
    ...allNotYet('--output'),
  },
  kustomize: {
    ...allOf(
      '--as-current-user --enable-alpha-plugins --env -e --mount --network --network-name',
      noFunctions,
    ),
    ...allOf('--enable-helm --helm-api-versions --helm-command --helm-debug --helm-kube-version', noHelm),
  },
  run: {
    ...allOf(
      '--filename -f --kustomize -k --recursive -R',
      'run makes the pod from its flags; create -f reads files',
    ),
  },
  'set env': {
    ...allNotYet('--resolve'),
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
