/** `--local`: changes the objects of files, without a server. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { matches } from '../../apimachinery/labels.ts';
import { UsageError } from '../../base/usage-error.ts';
import { givenNamespace, resolveConnection } from '../connection/connection.ts';
import { type Flags, type FlagTable, namesManifests } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import { readManifests } from '../manifests/manifests.ts';
import { selectorOf } from '../objects/label-selector.ts';
import { metadataOf } from '../objects/objects.ts';
import type { VerbContext } from '../verb.ts';

export const localFlag = {
  local: {
    type: 'boolean',
    about: 'change the objects of the files only, without a server; -o yaml prints them',
  },
} as const satisfies FlagTable;

/**
 * Throws UsageError for flags and words that need a server. `words` are those that name objects, `onlyFiles`
 * is the message for them.
 */
export function requireLocal(flags: Flags, words: readonly string[], onlyFiles: string): void {
  if (flags.text('dry-run') === 'server')
    throw new UsageError('cannot specify --local and --dry-run=server - did you mean --dry-run=client?');
  if (words.length > 0) throw new UsageError(onlyFiles);
  if (!namesManifests(flags)) throw new UsageError('--local changes files: name them by -f FILE or -k DIR');
}

/** Yields the objects of the files that -l selects; a document that cannot be read is reported. */
export async function* localObjects({ io, flags, report }: VerbContext): AsyncGenerator<JsonObject> {
  const text = flags.text('selector');
  const selector = text ? selectorOf(text) : undefined;
  for (const entry of await readManifests(io, flags)) {
    if ('error' in entry) report(entry.error);
    else if (!selector || matches(selector, metadataOf(entry.object).labels)) yield entry.object;
  }
}

/** Returns the namespace of --namespace, or of the context, or `default` if no kubeconfig names a server. */
export function localNamespace(io: Pick<Io, 'env' | 'homeDirectory'>, flags: Flags): string {
  const given = givenNamespace(flags);
  if (given !== undefined) return given;
  try {
    return resolveConnection(io, flags).namespace;
  } catch (error) {
    if (error instanceof UsageError) return 'default';
    throw error;
  }
}
