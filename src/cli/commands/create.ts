/**
 * `ctl create -f`: creates objects from manifests; an object that already exists is an error. `ctl create
 * job` and `token` have files of their own.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { withLastApplied } from '../apply/last-applied.ts';
import { objectIntroduction } from '../edit/edit-plan.ts';
import { AnotherObjectError, lineEndingsFlag, runEditSession } from '../edit/edit-session.ts';
import { dryRunOf, dryRunSuffix, requireManifests, selectorFlag } from '../flags/flags.ts';
import {
  fieldManagerOf,
  fieldValidationOf,
  managerFlag,
  saveConfigFlag,
  validateFlag,
  writeFlags,
  writeQuery,
} from '../flags/write-options.ts';
import { reportInFile } from '../manifests/faults-in-file.ts';
import { kindName } from '../objects/discovery.ts';
import { metadataOf } from '../objects/objects.ts';
import { type ManifestTarget, manifestTargets } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import { callRaw, rawPath } from '../raw-call.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { createJob } from './create-job.ts';
import { createObject } from './create-object.ts';
import { createToken } from './create-token.ts';
import { messageName } from './edit.ts';

export const create: Verb = {
  about: 'create objects from manifests or, by type, from flags',
  group: 'Basic Commands (Beginner)',
  words: '-f FILE',
  flags: {
    ...writeFlags,
    ...validateFlag,
    ...managerFlag,
    ...selectorFlag,
    ...saveConfigFlag,
    ...lineEndingsFlag,
    edit: { type: 'boolean', about: 'edit the objects in an editor before they are created' },
    raw: { type: 'string', hint: 'PATH', about: 'send the file to this path of the API, unchanged' },
  },
  examples: [
    'ctl create -f web.yaml # create the objects of a manifest',
    'ctl create deployment web --image=nginx # create a Deployment from flags',
    'ctl create namespace shop -o yaml --dry-run=client # print the manifest of an object',
    'ctl create -f web.yaml --edit # change the manifest in an editor first',
    'ctl create --raw /api/v1/namespaces/default/configmaps -f settings.json # send a file as it is',
  ],
  inner: { job: createJob, token: createToken, ...createObject },
  async run(context) {
    const { io, flags } = context;
    requireManifests(flags);
    if (flags.given('raw')) {
      await callRaw(context, 'POST', rawPath(flags, ['edit', 'selector']));
      return;
    }
    const write = writerOf(context);
    for await (const target of manifestTargets(context, context.cluster(), 'create')) {
      if (flags.on('edit')) {
        await editBefore(context, target, write);
        continue;
      }
      try {
        io.out(await write(target, target.object));
      } catch (error) {
        await reportInFile(context, target, error, 'error when creating');
      }
    }
  },
};

/** Creates an object and resolves to the text to print. */
type Write = (target: Pick<ManifestTarget, 'resource' | 'namespace'>, object: JsonObject) => Promise<string>;

function writerOf({ flags, cluster }: VerbContext): Write {
  const dryRun = dryRunOf(flags);
  const format = printedFormat(flags);
  const parameters = writeQuery(dryRun, fieldValidationOf(flags), fieldManagerOf(flags));
  return async ({ resource, namespace }, object) => {
    const whole = flags.on('save-config') ? withLastApplied(object) : object;
    const path = collectionPath(resource, namespace) + parameters;
    const result = dryRun === 'client' ? whole : await cluster().send('POST', path, whole);
    const line = `${kindName(resource)}/${metadataOf(result).name || '<unknown>'} created${dryRunSuffix[dryRun]}\n`;
    return format?.(result) ?? line;
  };
}

/** Opens one object in the editor; an object that is saved without a change is not created, as in kubectl. */
async function editBefore(context: VerbContext, target: ManifestTarget, write: Write): Promise<void> {
  const output = context.flags.text('output');
  await runEditSession(context, {
    objects: [target.object],
    format: output === 'json' ? 'json' : 'yaml',
    introduction: objectIntroduction,
    windowsLineEndings: context.flags.on('windows-line-endings'),
    send: async (edited) => {
      const { apiVersion, kind } = target.object;
      const namespace = metadataOf(edited).namespace || target.namespace;
      if (edited.apiVersion !== apiVersion || edited.kind !== kind || namespace !== target.namespace)
        throw new AnotherObjectError('apiVersion, kind and namespace cannot be changed before it is created');
      context.io.out(await write(target, edited));
    },
    nameOf: (edited) => messageName({ ...target, name: metadataOf(edited).name || target.generateName }),
  });
}
