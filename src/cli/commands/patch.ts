/** `ctl patch`: sends a patch unchanged. */
import { patchTypes } from '../../apimachinery/patch.ts';
import { TextError } from '../../apimachinery/value-limit.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { UsageError } from '../../base/usage-error.ts';
import { readBounded } from '../../os/bounded-file.ts';
import { dryRunOf, dryRunSuffix, type Flags, type FlagTable } from '../flags/flags.ts';
import { fieldManagerOf, managerFlag, writeFlags, writeQuery } from '../flags/write-options.ts';
import { kindName } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb } from '../verb.ts';

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
    const { flags, io } = context;
    requireSelection(flags);
    const body = await readPatch(flags, io.signal);
    const type = patchTypes[flags.oneOf('type', ['strategic', 'merge', 'json'] as const) ?? 'strategic'];
    const dryRun = dryRunOf(flags);
    const format = printedFormat(flags);
    const options = writeQuery(dryRun, undefined, fieldManagerOf(flags));
    const cluster = context.cluster();
    for (const target of await resolveObjects(context)) {
      const before = await cluster.get(targetPath(target));
      const path = targetPath(target, flags.text('subresource'));
      const after = dryRun === 'client' ? before : await cluster.send('PATCH', path + options, body, type);
      const same = metadataOf(after).resourceVersion === metadataOf(before).resourceVersion;
      const note = dryRun === 'none' && same ? ' (no change)' : dryRunSuffix[dryRun];
      const line = `${kindName(target.resource)}/${target.name} patched${note}\n`;
      io.out(format ? format(after) : line);
    }
  },
};

async function readPatch(flags: Flags, signal: AbortSignal): Promise<unknown> {
  const file = flags.text('patch-file');
  const text =
    file === undefined ? flags.text('patch') : (await readBounded(file, { signal })).toString('utf8');
  if (!text) throw new UsageError('ctl patch: a patch is required: -p \'{"spec": …}\' or --patch-file FILE');
  try {
    return parseYaml(text).value;
  } catch (error) {
    if (error instanceof TextError) throw new UsageError(`the patch cannot be read: ${error.message}`);
    throw error;
  }
}
