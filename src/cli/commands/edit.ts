/** `ctl edit`: opens objects in the user's editor, again with the errors until the server accepts them. */
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import { sendPatch } from '../apply/send-patch.ts';
import { type EditReason, editFailure, headerText, isAnother, withoutComments } from '../edit/edit-plan.ts';
import { discard, type EditedFile, editText } from '../edit/editor.ts';
import { ReportedError } from '../errors.ts';
import { type FlagTable, fileFlags } from '../flags/flags.ts';
import {
  fieldManagerOf,
  fieldValidationOf,
  managerFlag,
  validateFlag,
  writeQuery,
} from '../flags/write-options.ts';
import { parseManifests } from '../manifests/manifests.ts';
import { kindName } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import {
  listOf,
  type ObjectFormat,
  objectFormat,
  printedFormat,
  withoutManagedFields,
} from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  output: { type: 'string', short: 'o', hint: 'yaml|json', about: 'output format', usual: 'yaml' },
  ...fileFlags,
  ...validateFlag,
  ...managerFlag,
} as const satisfies FlagTable;

export const edit: Verb = {
  about: 'edit objects in an editor: $KUBE_EDITOR, $EDITOR or vi',
  group: 'Basic Commands (Intermediate)',
  words: ['TYPE NAME...', 'TYPE/NAME...', '-f FILE'],
  flags: flagTable,
  examples: [
    'ctl edit deployment web # edit an object',
    'KUBE_EDITOR=nano minik8s ctl edit service/web # edit it in another editor',
  ],
  async run(context) {
    requireSelection(context.flags);
    const cluster = context.cluster();
    const targets = await resolveObjects(context);
    if (targets.length === 0) throw new Error('edit cancelled, no objects found');
    const originals = await Promise.all(
      targets.map(async (target) => ({
        target,
        object: withoutManagedFields(await cluster.get(targetPath(target))),
      })),
    );
    await new EditSession(context, originals).run();
  },
};

interface Original {
  readonly target: ObjectTarget;
  readonly object: JsonObject;
}

class EditSession {
  readonly #context: VerbContext;
  readonly #originals: readonly Original[];
  readonly #format: 'yaml' | 'json';
  /** Output format of the changed objects, which replaces the usual line. */
  readonly #print: ObjectFormat | undefined;

  constructor(context: VerbContext, originals: readonly Original[]) {
    this.#context = context;
    this.#originals = originals;
    this.#format = context.flags.oneOf('output', ['yaml', 'json'] as const) ?? 'yaml';
    this.#print = printedFormat(context.flags);
  }

  /** Rejects with ReportedError if an edit was not applied completely; the file is then kept. */
  async run(): Promise<void> {
    const { io } = this.#context;
    const original = this.#text();
    let [text, reasons]: [string, readonly EditReason[]] = [original, []];
    let before: EditedFile | undefined;
    for (;;) {
      const file = await editText(io, this.#header(reasons) + text, `.${this.#format}`);
      const edited = withoutComments(file.text);
      if (before) await discard(before);
      if (before && edited === text) return this.#give(file, 'Edit cancelled, no valid changes were saved.');
      const cancellation = cancellationOf(edited, original);
      if (cancellation !== undefined) return cancel(this.#context, file, cancellation);
      reasons = await this.#apply(file);
      if (reasons.length === 0) return discard(file);
      [text, before] = [edited, file];
    }
  }

  /** Returns the comment above the objects; JSON has no comments. */
  #header(reasons: readonly EditReason[]): string {
    return this.#format === 'json' ? '' : headerText(reasons);
  }

  #text(): string {
    const objects = this.#originals.map(({ object }) => object);
    const [only] = objects;
    const whole = only && objects.length === 1 ? only : { ...listOf(objects), metadata: {} };
    return objectFormat(this.#format)?.(whole) ?? '';
  }

  /** Resolves to the reasons to edit the file again; empty if everything is applied. */
  async #apply(file: EditedFile): Promise<EditReason[]> {
    const { io } = this.#context;
    const entries = parseManifests(file.text, 'edited-file', (text) => io.err(`Warning: ${text}\n`));
    const wrong = entries.flatMap((entry) => ('error' in entry ? [entry.error.message] : []));
    if (wrong.length > 0)
      return wrong.map((why) => ({ head: `The edited file had a syntax error: ${why}`, details: [] }));
    const reasons: EditReason[] = [];
    for (const entry of entries) {
      if ('error' in entry) continue;
      const { uid } = metadataOf(entry.object);
      const original = this.#originals.find(({ object }) => metadataOf(object).uid === uid);
      if (!original || isAnother(original.object, entry.object))
        return this.#give(file, 'At least one of apiVersion, kind, name and uid was changed');
      const reason = await this.#applyOne(original, entry.object, file);
      if (reason) reasons.push(reason);
    }
    return reasons;
  }

  /** Resolves to the reason to edit the object again; undefined if it is applied. */
  async #applyOne(original: Original, edited: JsonObject, file: EditedFile): Promise<EditReason | undefined> {
    const { io } = this.#context;
    const { resource, name } = original.target;
    const plural = `${resource.plural}${resource.group && `.${resource.group}`}`;
    try {
      const result = await this.#patch(original, edited);
      const line = `${kindName(resource)}/${name} ${result ? 'edited' : 'skipped'}\n`;
      io.out(this.#print?.(result ?? edited) ?? line);
      return undefined;
    } catch (error) {
      if (io.signal.aborted) throw error;
      const failure = editFailure(error, `${plural} ${JSON.stringify(name)}`);
      if (failure.kind === 'failed') return this.#give(file, failure.message);
      io.err(`error: ${failure.message}\n`);
      return failure.reason;
    }
  }

  /** Resolves to the server's answer; undefined if nothing was changed. */
  async #patch({ target, object }: Original, edited: JsonObject): Promise<JsonObject | undefined> {
    if (deepEqual(object, edited)) return undefined;
    const states = { original: object, current: object, modified: edited };
    const query = writeQuery(
      'none',
      fieldValidationOf(this.#context.flags),
      fieldManagerOf(this.#context.flags),
    );
    return sendPatch(this.#context.cluster(), target, states, query);
  }

  #give({ path }: EditedFile, why: string): never {
    const { io } = this.#context;
    io.err(`error: ${why}\n`);
    io.err(`A copy of your changes has been stored to ${JSON.stringify(path)}\n`);
    throw new ReportedError();
  }
}

/** Returns the message about a text that is not applied; undefined for a text that is. */
function cancellationOf(edited: string, original: string): string | undefined {
  if (edited === original) return 'Edit cancelled, no changes made.';
  return edited.trim() === '' ? 'Edit cancelled, saved file was empty.' : undefined;
}

async function cancel({ io }: VerbContext, file: EditedFile, why: string): Promise<void> {
  await discard(file);
  io.err(`${why}\n`);
}
