/**
 * `ctl apply view-last-applied` and `set-last-applied`: the annotation with the manifest that was applied
 * last.
 */
import { deepEqual, type JsonObject, sortKeys } from '../../apimachinery/equality.ts';
import { goJson } from '../../apimachinery/go-json.ts';
import { lastAppliedAnnotation } from '../../apimachinery/last-applied.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { formatYaml } from '../../apimachinery/yaml-output/format-yaml.ts';
import { UsageError } from '../../base/usage-error.ts';
import { query } from '../../client/resource-path.ts';
import { annotationPatch, readLastApplied } from '../apply/last-applied.ts';
import { dryRunOf, dryRunSuffix, fileFlags, selectorFlag } from '../flags/flags.ts';
import { writeFlags } from '../flags/write-options.ts';
import { kindName } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import {
  type ManifestTarget,
  manifestTargets,
  requireSelection,
  resolveObjects,
} from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

export const viewLastApplied: Verb = {
  about: 'print the manifests that were applied last',
  words: 'TYPE NAME',
  flags: {
    ...fileFlags,
    ...selectorFlag,
    all: { type: 'boolean', about: 'all objects of the type in the namespace' },
    output: { type: 'string', short: 'o', hint: 'yaml|json', about: 'output format', usual: 'yaml' },
  },
  examples: [
    'ctl apply view-last-applied deployment/web # print what was applied last',
    'ctl apply view-last-applied -f web.yaml -o json # the same for the objects of a manifest, as JSON',
  ],
  async run(context) {
    const { io, flags } = context;
    const output = flags.oneOf('output', ['yaml', 'json'] as const) ?? 'yaml';
    requireSelection(flags);
    const cluster = context.cluster();
    const texts: string[] = [];
    for (const target of await resolveObjects(context)) {
      const object = await cluster.get(targetPath(target));
      const applied = readLastApplied(object);
      if (!applied) throw noAnnotation(target.name);
      texts.push(output === 'json' ? `${goJson(applied, 2)}\n` : formatYaml(sortKeys(applied)));
    }
    io.out(texts.join(''));
  },
};

const noAnnotation = (name: string, advice = '') =>
  new Error(`no last-applied-configuration annotation found on resource: ${name}${advice}`);

export const setLastApplied: Verb = {
  about: 'set the annotation of the last applied manifest, and change nothing else',
  flags: {
    ...writeFlags,
    'create-annotation': { type: 'boolean', about: 'also for objects without the annotation' },
  },
  examples: [
    'ctl apply set-last-applied -f web.yaml --create-annotation # record a manifest as the last applied one',
  ],
  async run(context) {
    const { flags } = context;
    if (!flags.given('filename')) throw new UsageError('ctl apply set-last-applied: -f FILE is required');
    // Every object is checked before the first one is changed.
    const changes = await changesOf(context);
    for (const change of changes) await setOne(context, change);
  },
};

interface Change {
  readonly target: ManifestTarget;
  readonly current: JsonObject;
}

/** Resolves to the objects whose annotation differs from their manifest. */
async function changesOf(context: VerbContext): Promise<readonly Change[]> {
  const { io, flags } = context;
  const cluster = context.cluster();
  const changes: Change[] = [];
  for await (const target of manifestTargets(context, cluster, 'apply')) {
    const current = await cluster.get(targetPath(target));
    const annotated = metadataOf(current).annotations[lastAppliedAnnotation] !== undefined;
    if (!annotated && !flags.on('create-annotation'))
      throw noAnnotation(target.name, ', to create the annotation, run the command with --create-annotation');
    if (annotated && deepEqual(readLastApplied(current), target.object))
      io.out(`set-last-applied ${target.name}: no changes required.\n`);
    else changes.push({ target, current });
  }
  return changes;
}

async function setOne({ io, flags, cluster }: VerbContext, { target, current }: Change): Promise<void> {
  const dryRun = dryRunOf(flags);
  const path = targetPath(target) + query({ dryRun: dryRun === 'server' ? 'All' : undefined });
  const object =
    dryRun === 'client'
      ? current
      : await cluster().send('PATCH', path, annotationPatch(target.object), patchTypes.merge);
  const line = `${kindName(target.resource)}/${target.name} configured${dryRunSuffix[dryRun]}\n`;
  io.out(printedFormat(flags)?.(object) ?? line);
}
