/** Applies the file kuberc to the command line of the client. */
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { connectionFlags } from '../flags/flags.ts';
import type { CtlIo, Verb, VerbGroup } from '../verb.ts';
import {
  expandCommandLine,
  type FindCommand,
  type FoundCommand,
  validatePreferences,
} from './expand-plan.ts';
import { type PluginPolicy, validatePluginPolicy } from './plugin-policy.ts';
import { loadPreferences } from './preferences.ts';

type Verbs = Readonly<Record<string, () => Promise<Verb | VerbGroup>>>;

/**
 * Resolves to the command line with the preferences of the user, and without --kuberc. With
 * KUBECTL_KUBERC=false, the result is the unchanged command line, as in kubectl 1.34 and newer. `onPolicy` is
 * called with the policy for credential plugins, if there is one.
 */
export async function applyKuberc(
  argv: readonly string[],
  io: Pick<CtlIo, 'env' | 'homeDirectory' | 'err'>,
  verbs: Verbs,
  onPolicy: (policy: PluginPolicy) => void,
): Promise<readonly string[]> {
  if (argv.length === 0) return argv;
  if (io.env.KUBECTL_KUBERC?.toLowerCase() === 'false') return withoutFlag(argv);
  try {
    const { named, rest } = withoutKuberc(argv);
    // The command that shows and changes the file works with an invalid one, and with one that it makes.
    if (rest.find((word) => !word.startsWith('-')) === 'kuberc') return argv;
    const { KUBERC } = io.env;
    const preferences =
      KUBERC === 'off' ? without(named) : loadPreferences(io, named ?? (KUBERC || undefined));
    if (!preferences) return rest;
    validatePreferences(preferences);
    if (preferences.plugins) {
      validatePluginPolicy(preferences.plugins);
      onPolicy(preferences.plugins);
    }
    return await expandCommandLine(rest, preferences, finder(verbs), (line) => io.err(`${line}\n`));
  } catch (error) {
    throw new Error(`error occurred while applying preferences ${errorMessage(error)}`, { cause: error });
  }
}

/** Returns the command line for KUBECTL_KUBERC=false; throws if it names a file. */
function withoutFlag(argv: readonly string[]): readonly string[] {
  if (withoutKuberc(argv).named === undefined) return argv;
  throw new UsageError('unknown flag --kuberc: KUBECTL_KUBERC=false turns it off');
}

/** Returns no preferences, for KUBERC=off; throws if a file is named all the same. */
function without(named: string | undefined): undefined {
  if (named !== undefined)
    throw new Error(
      'kuberc error disabling kuberc via KUBERC=off and passing kuberc flag are mutually exclusive',
    );
}

/** Returns the value of --kuberc, and the words without it. Throws if it has no value. */
function withoutKuberc(argv: readonly string[]): { named: string | undefined; rest: readonly string[] } {
  const end = argv.indexOf('--');
  const at = argv.findIndex(
    (word, index) => (end < 0 || index < end) && (word === '--kuberc' || word.startsWith('--kuberc=')),
  );
  if (at < 0) return { named: undefined, rest: argv };
  const inWord = argv[at]?.startsWith('--kuberc=') === true;
  const named = inWord ? argv[at]?.slice('--kuberc='.length) : argv[at + 1];
  if (!named) throw new Error('kuberc file is not found');
  return { named, rest: argv.toSpliced(at, inWord ? 1 : 2) };
}

const finder =
  (verbs: Verbs): FindCommand =>
  async ([first = '', ...words]) => {
    const verb = Object.hasOwn(verbs, first) ? await verbs[first]?.() : undefined;
    return verb && commandBelow(first, verb, words);
  };

/** Returns the innermost command that the words name. */
function commandBelow(
  path: string,
  verb: Verb | VerbGroup,
  [word = '', ...rest]: readonly string[],
): FoundCommand {
  const below = 'verbs' in verb ? verb.verbs : verb.inner;
  const inner = below && Object.hasOwn(below, word) ? below[word] : undefined;
  if (inner) return commandBelow(`${path} ${word}`, inner, rest);
  return { path, flags: { ...connectionFlags, ...('verbs' in verb ? {} : verb.flags) } };
}
