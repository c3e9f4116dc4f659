/** `ctl patch`: sends a patch unchanged. */
import { deepEqual, isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { FieldTable } from '../../apimachinery/field-types.ts';
import { applyPatch, patchTypes } from '../../apimachinery/patch.ts';
import { applyJsonPatch, readJsonPatch } from '../../apimachinery/patch-json.ts';
import { applyMergePatch } from '../../apimachinery/patch-merge.ts';
import { TextError } from '../../apimachinery/value-limit.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { readBounded } from '../../os/bounded-file.ts';
import { dryRunOf, dryRunSuffix, type Flags, type FlagTable } from '../flags/flags.ts';
import { fieldManagerOf, managerFlag, writeFlags, writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { typeOfObject } from '../local/kind-types.ts';
import { localFlag, localObjects, requireLocal } from '../local/local-objects.ts';
import { kindName } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { printedFormat, qualifiedName } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  patch: { type: 'string', short: 'p', hint: 'PATCH', about: 'the patch, in JSON or YAML' },
  'patch-file': { type: 'string', hint: 'FILE', about: 'a file with the patch' },
  type: {
    type: 'string',
    hint: 'strategic|merge|json',
    about: 'type of the patch',
    usual: 'strategic',
  },
  subresource: {
    type: 'string',
    hint: 'NAME',
    about: 'patch this subresource of the object, such as status',
  },
  ...writeFlags,
  ...managerFlag,
  ...localFlag,
} as const satisfies FlagTable;

export const patch: Verb = {
  about: 'change fields of objects by a patch',
  group: 'Advanced Commands',
  words: [
    'TYPE NAME (-p PATCH | --patch-file FILE)',
    'TYPE/NAME (-p PATCH | --patch-file FILE)',
    '-f FILE (-p PATCH | --patch-file FILE)',
  ],
  flags: flagTable,
  examples: [
    `ctl patch deployment web -p '{"spec":{"replicas":2}}' # merge fields`,
    `ctl patch deployment web --type=json -p '[{"op":"remove","path":"/metadata/labels/old"}]' # remove a field`,
    `ctl patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":2}}' # patch a subresource`,
  ],
  async run(context) {
    const { flags } = context;
    const isLocal = flags.on('local');
    if (isLocal) requireLocal(flags, flags.words, 'cannot specify --local and server resources');
    else requireSelection(flags);
    const body = await readPatch(flags, context.io.signal);
    const type = flags.oneOf('type', types) ?? 'strategic';
    const dryRun = dryRunOf(flags);
    const print = printerOf(context);
    if (isLocal) {
      const fields = await context.io.kubernetesFields();
      return forEachReported(context, localObjects(context), async (before) =>
        print(qualifiedName(before), before, patchedHere(before, body, type, fields)),
      );
    }
    const options = writeQuery(dryRun, undefined, fieldManagerOf(flags));
    const cluster = context.cluster();
    const subresource = flags.text('subresource');
    await forEachReported(context, await resolveObjects(context), async (target) => {
      const before = await cluster.get(targetPath(target));
      const path = targetPath(target, subresource);
      const after =
        dryRun === 'client'
          ? patchedHere(before, body, type, await context.io.kubernetesFields())
          : await cluster.send('PATCH', path + options, body, patchTypes[type]);
      print(subresource ? qualifiedName(after) : nameOf(target), before, after);
    });
  },
};

const nameOf = ({ resource, name }: ObjectTarget) => `${kindName(resource)}/${name}`;

const types = ['strategic', 'merge', 'json'] as const;

/**
 * Returns a function that prints the patched object as -o says, or a line that says whether it has changed. A
 * dry run is marked only on a terminal, because kubectl does not mark it.
 */
function printerOf({
  flags,
  io,
}: VerbContext): (name: string, before: JsonObject, after: JsonObject) => void {
  // A wrong format is an error before anything is changed.
  printedFormat(flags);
  const suffix = io.columns?.out === undefined ? '' : dryRunSuffix[dryRunOf(flags)];
  return (name, before, after) => {
    const change = deepEqual(before, after) ? ' (no change)' : '';
    // Documents of YAML are not separated, as in kubectl.
    io.out(printedFormat(flags)?.(after) ?? `${name} patched${change}${suffix}\n`);
  };
}

/** Returns the object with the patch, which the client applies. Throws for a patch that does not fit. */
function patchedHere(
  before: JsonObject,
  body: unknown,
  type: (typeof types)[number],
  fields: FieldTable,
): JsonObject {
  const known = typeOfObject(before, fields);
  if (type === 'strategic' && !known) {
    const { apiVersion, kind } = before;
    const version = String(apiVersion).includes('/') ? apiVersion : `/${apiVersion}`;
    throw new Error(
      `strategic merge patch is not supported for ${version}, Kind=${kind} locally, try --type merge`,
    );
  }
  if (type === 'json') return recordOf(applyJsonPatch(before, readJsonPatch(body)));
  if (!isRecord(body)) throw new UsageError('the patch is not an object');
  return known && type === 'strategic'
    ? applyPatch(before, { kind: type, value: body }, known)
    : recordOf(applyMergePatch(before, body));
}

function recordOf(value: unknown): JsonObject {
  if (!isRecord(value)) throw new Error('the result of the patch is not an object');
  return value;
}

async function patchIn(file: string, signal: AbortSignal): Promise<string> {
  try {
    return (await readBounded(file, { signal })).toString('utf8');
  } catch (error) {
    if (signal.aborted) throw error;
    throw new UsageError(`unable to read patch file: ${errorMessage(error)}`);
  }
}

async function readPatch(flags: Flags, signal: AbortSignal): Promise<unknown> {
  const file = flags.text('patch-file');
  if (file !== undefined && flags.given('patch'))
    throw new UsageError('cannot specify --patch and --patch-file together');
  const text = file === undefined ? flags.text('patch') : await patchIn(file, signal);
  if (!text) throw new UsageError('ctl patch: a patch is required: -p \'{"spec": …}\' or --patch-file FILE');
  try {
    return parseYaml(text).value;
  } catch (error) {
    if (error instanceof TextError) throw new UsageError(`the patch cannot be read: ${error.message}`);
    throw error;
  }
}
