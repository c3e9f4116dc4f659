/** Applies a change to objects: only the differences are sent, as a patch. */
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import { sendPatch } from '../apply/send-patch.ts';
import { dryRunOf, dryRunSuffix } from '../flags/flags.ts';
import { fieldManagerOf, writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { inGoForm } from '../local/kind-types.ts';
import { localObjects, requireLocal } from '../local/local-objects.ts';
import { kindName } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { qualifiedName, typedFormat } from '../printers/object-format.ts';
import type { VerbContext } from '../verb.ts';

/** Returns the changed object. Pure; throws for an object that cannot be changed this way. */
export type ObjectChange = (object: JsonObject) => JsonObject;

/**
 * Changes all objects that the words, a selector or files name. `what` is the changed part, such as `image`.
 * An object that needs no change is skipped without a message unless `saysUnchanged`, as in kubectl.
 */
export async function changeObjects(
  context: VerbContext,
  words: readonly string[],
  what: string,
  change: ObjectChange,
  { saysUnchanged = false }: { readonly saysUnchanged?: boolean } = {},
): Promise<void> {
  const { flags, io } = context;
  if (flags.on('local')) return changeLocally(context, words, what, change);
  requireSelection(flags, words);
  const format = await typedFormat(context);
  const dryRun = dryRunOf(flags);
  await forEachReported(context, await resolveObjects(context, words), async (target) => {
    const before = await context.cluster().get(targetPath(target));
    const states = { original: before, current: before, modified: change(before) };
    const query = dryRun === 'client' ? undefined : writeQuery(dryRun, undefined, fieldManagerOf(flags));
    const sent = await sendPatch(context.cluster(), target, states, query);
    const after = sent ?? (saysUnchanged ? before : undefined);
    if (!after) return;
    const line = `${kindName(target.resource)}/${target.name} ${what} updated${dryRunSuffix[dryRun]}\n`;
    io.out(format?.(after) ?? line);
  });
}

/** Yields the changed objects of the server, or with --local those of the files, and stores nothing. */
export async function* changedObjects(
  context: VerbContext,
  words: readonly string[],
  change: ObjectChange,
): AsyncGenerator<JsonObject> {
  if (context.flags.on('local')) for await (const object of localObjects(context)) yield change(object);
  else
    for (const target of await resolveObjects(context, words))
      yield change(await context.cluster().get(targetPath(target)));
}

/** The message for words that name objects beside --local. */
export const onlyFiles = 'you must specify resources by --filename when --local is set.';

/** Changes the objects of files, and prints each changed object or a line about it. */
async function changeLocally(
  context: VerbContext,
  words: readonly string[],
  what: string,
  change: ObjectChange,
): Promise<void> {
  const { flags, io } = context;
  requireLocal(flags, words, onlyFiles);
  const format = await typedFormat(context);
  const fields = await io.kubernetesFields();
  await forEachReported(context, localObjects(context), async (object) => {
    const before = inGoForm(object, fields);
    const after = inGoForm(change(before), fields);
    if (deepEqual(before, after)) return;
    const line = `${qualifiedName(after)} ${what} updated${dryRunSuffix[dryRunOf(flags)]}\n`;
    io.out(format?.(after) ?? line);
  });
}
