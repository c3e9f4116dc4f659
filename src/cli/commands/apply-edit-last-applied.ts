/** `ctl apply edit-last-applied`: opens the manifests that were applied last in the user's editor. */
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { annotationPatch, readLastApplied } from '../apply/last-applied.ts';
import { isAnother, lastAppliedIntroduction } from '../edit/edit-plan.ts';
import { AnotherObjectError, lineEndingsFlag, runEditSession } from '../edit/edit-session.ts';
import { fileFlags } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import {
  fieldManagerOf,
  fieldValidationOf,
  managerFlag,
  validateFlag,
  writeQuery,
} from '../flags/write-options.ts';
import { kindName } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { textAt } from '../objects/objects.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { messageName } from './edit.ts';

interface Original {
  readonly target: ObjectTarget;
  readonly applied: JsonObject;
}

export const editLastApplied: Verb = {
  about: 'edit the annotation of the last applied manifest in an editor',
  words: 'TYPE NAME',
  flags: {
    ...fileFlags,
    ...printFlags,
    ...validateFlag,
    ...managerFlag,
    ...lineEndingsFlag,
    output: { type: 'string', short: 'o', hint: 'yaml|json', about: 'format in the editor', usual: 'yaml' },
  },
  examples: ['ctl apply edit-last-applied deployment/web # edit what was applied last'],
  async run(context) {
    const { flags } = context;
    requireSelection(flags);
    const originals: Original[] = [];
    for (const target of await resolveObjects(context)) {
      const applied = readLastApplied(await context.cluster().get(targetPath(target)));
      if (applied) originals.push({ target, applied });
    }
    if (originals.length === 0)
      throw new Error(
        'no last-applied-configuration annotation found on resources, to create the annotation, use command ' +
          '`ctl apply set-last-applied --create-annotation`',
      );
    await runEditSession(context, {
      objects: originals.map(({ applied }) => applied),
      format: flags.oneOf('output', ['yaml', 'json'] as const) ?? 'yaml',
      introduction: lastAppliedIntroduction,
      windowsLineEndings: flags.on('windows-line-endings'),
      send: (edited) => send(context, originalOf(originals, edited), edited),
      nameOf: (edited) => messageName(originalOf(originals, edited).target),
    });
  },
};

/** Returns the manifest before the edit. Throws AnotherObjectError if it has another identity. */
function originalOf(originals: readonly Original[], edited: JsonObject): Original {
  const namespace = (object: JsonObject) => textAt(object, 'metadata', 'namespace');
  const original = originals.find(
    ({ applied }) => !isAnother(applied, edited) && namespace(applied) === namespace(edited),
  );
  if (original) return original;
  throw new AnotherObjectError('At least one of apiVersion, kind, name and namespace was changed');
}

async function send(
  { io, flags, cluster }: VerbContext,
  { target, applied }: Original,
  edited: JsonObject,
): Promise<void> {
  const changed = !deepEqual(applied, edited);
  if (changed) {
    const query = writeQuery('none', fieldValidationOf(flags), fieldManagerOf(flags));
    await cluster().send('PATCH', targetPath(target) + query, annotationPatch(edited), patchTypes.merge);
  }
  const line = `${kindName(target.resource)}/${target.name} ${changed ? 'edited' : 'skipped'}\n`;
  io.out(printedFormat(flags)?.(edited) ?? line);
}
