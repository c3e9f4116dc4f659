/**
 * `ctl edit`: opens objects in the user's editor, and reopens them with the errors until the server accepts
 * them.
 */
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import { goJson } from '../../apimachinery/go-json.ts';
import { withLastApplied } from '../apply/last-applied.ts';
import { sendPatch } from '../apply/send-patch.ts';
import { isAnother, objectIntroduction } from '../edit/edit-plan.ts';
import { AnotherObjectError, lineEndingsFlag, runEditSession } from '../edit/edit-session.ts';
import { type FlagTable, fileFlags } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import {
  fieldManagerOf,
  fieldValidationOf,
  managerFlag,
  saveConfigFlag,
  validateFlag,
  writeQuery,
} from '../flags/write-options.ts';
import { kindName } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import { requireType, resolveObjects } from '../objects/targets.ts';
import { printedFormat, withoutManagedFields } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  ...fileFlags,
  ...lineEndingsFlag,
  ...printFlags,
  ...validateFlag,
  ...managerFlag,
  ...saveConfigFlag,
  output: {
    type: 'string',
    short: 'o',
    hint: 'yaml|json',
    about: 'format in the editor, and of the changed objects that are printed',
    usual: 'yaml',
  },
  'output-patch': { type: 'boolean', about: 'print the patch that is sent' },
  subresource: {
    type: 'string',
    hint: 'NAME',
    about: 'edit this subresource of the object, such as status',
  },
} as const satisfies FlagTable;

export const edit: Verb = {
  about: 'edit objects in an editor: $KUBE_EDITOR, $EDITOR or vi',
  group: 'Basic Commands (Intermediate)',
  words: ['TYPE NAME...', 'TYPE/NAME...', '-f FILE'],
  flags: flagTable,
  examples: [
    'ctl edit deployment web # edit an object',
    'KUBE_EDITOR=nano minik8s ctl edit service/web # edit it in another editor',
    'ctl edit configmap settings -o json --save-config # edit it as JSON, and keep it for apply',
    'ctl edit deployment web --subresource=status # edit the status',
  ],
  async run(context) {
    const { flags } = context;
    requireType(flags);
    const cluster = context.cluster();
    const targets = await resolveObjects(context);
    if (targets.length === 0) throw new Error('edit cancelled, no objects found');
    const path = (target: ObjectTarget) => targetPath(target, flags.text('subresource'));
    const originals = await Promise.all(
      targets.map(async (target) => ({
        target,
        object: withoutManagedFields(await cluster.get(path(target))),
      })),
    );
    await runEditSession(context, {
      objects: originals.map(({ object }) => object),
      format: flags.oneOf('output', ['yaml', 'json'] as const) ?? 'yaml',
      introduction: objectIntroduction,
      windowsLineEndings: flags.on('windows-line-endings'),
      send: (edited) => sendEdited(context, originalOf(originals, edited), edited),
      nameOf: (edited) => messageName(originalOf(originals, edited).target),
    });
  },
};

interface Original {
  readonly target: ObjectTarget;
  readonly object: JsonObject;
}

/** Returns what the object was before it was edited. Throws AnotherObjectError if it has another identity. */
function originalOf(originals: readonly Original[], edited: JsonObject): Original {
  const { uid } = metadataOf(edited);
  const original = originals.find(({ object }) => metadataOf(object).uid === uid);
  if (!original || isAnother(original.object, edited))
    throw new AnotherObjectError('At least one of apiVersion, kind, name and uid was changed');
  return original;
}

/** Returns a name for messages such as `deployments.apps "web"`. */
export const messageName = ({ resource, name }: ObjectTarget): string =>
  `${resource.plural}${resource.group && `.${resource.group}`} ${JSON.stringify(name)}`;

async function sendEdited(context: VerbContext, original: Original, edited: JsonObject): Promise<void> {
  const { flags, io } = context;
  const { resource, name } = original.target;
  const wanted =
    flags.on('save-config') && !deepEqual(original.object, edited) ? withLastApplied(edited) : edited;
  const result = await patch(context, original, wanted);
  const line = `${kindName(resource)}/${name} ${result ? 'edited' : 'skipped'}\n`;
  io.out(printedFormat(flags)?.(result ?? edited) ?? line);
}

/** Resolves to the server's answer; undefined if nothing was changed. */
async function patch(
  { flags, io, cluster }: VerbContext,
  { target, object }: Original,
  edited: JsonObject,
): Promise<JsonObject | undefined> {
  if (deepEqual(object, edited)) return undefined;
  const states = { original: object, current: object, modified: edited };
  const query = writeQuery('none', fieldValidationOf(flags), fieldManagerOf(flags));
  return sendPatch(cluster(), target, states, query, {
    subresource: flags.text('subresource'),
    onPatch: (sent) => {
      if (flags.on('output-patch')) io.out(`Patch: ${goJson(sent)}\n`);
    },
  });
}
