/**
 * Commands and flags of kubectl 1.32 and later that ctl does not have, each with what to do instead. The
 * message of an unknown command or flag ends with this text. test/integration/cli/kubectl-verbs.test.ts
 * compares this table with the real kubectl: the test fails if an entry is missing here, or names something
 * that ctl has meanwhile.
 */

const noFunctions = 'ctl runs no functions, plugins or containers for a kustomization';
const noHelm =
  'ctl runs no Helm for a kustomization; helm template does: helm template CHART | minik8s ctl apply -f -';

/** Returns the same refusal for each of the words. */
const allOf = (words: string, refusal: string): Readonly<Record<string, string>> =>
  Object.fromEntries(words.split(' ').map((word) => [word, refusal]));

/**
 * Refusals by command, such as `apply`; the empty name stands for `ctl` itself, with the flags of every
 * command.
 */
const byCommand: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    alpha: "kubectl's alpha commands change from version to version; ctl has none",
    '--log-flush-frequency': 'ctl writes no log',
    '--match-server-version': 'ctl works with servers of other versions; ctl version shows both',
    '--password': 'the server has no basic authentication; use a token or a client certificate',
    '--username': 'the server has no basic authentication; use a token or a client certificate',
    ...allOf('--profile --profile-output', 'it profiles the Go code of kubectl; ctl has none'),
    '--vmodule': 'ctl has one log level for all of it: -v',
  },
  apply: {
    '--openapi-patch': 'ctl always merges by the schemas that the server publishes',
    '--overwrite': 'ctl always resolves differences in favor of the manifest',
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
  wait: {
    '--local': 'wait watches objects of the server; those of files do not change',
  },
};

/** Returns the reason why a command has no such sub-command or flag; undefined if kubectl has none either. */
export function refusalOf(command: string, word: string): string | undefined {
  const path = command.replace(/^ctl ?/, '');
  return byCommand[path]?.[word] ?? (word.startsWith('-') ? byCommand['']?.[word] : undefined);
}

/** Returns all refusals of a command, for the test of this table. */
export const refusalsOf = (path: string): readonly string[] => Object.keys(byCommand[path] ?? {});

/** Paths of the commands that have refusals of their own. */
export const refusingCommands: readonly string[] = Object.keys(byCommand);
