/**
 * `ctl create -f`: creates objects from manifests; an object that already exists is an error. `ctl create
 * job` and `token` have files of their own.
 */
import { collectionPath } from '../../client/resource-path.ts';
import { dryRunOf, dryRunSuffix, requireManifests } from '../flags/flags.ts';
import {
  fieldManagerOf,
  fieldValidationOf,
  managerFlag,
  validateFlag,
  writeFlags,
  writeQuery,
} from '../flags/write-options.ts';
import { reportInFile } from '../manifests/faults-in-file.ts';
import { kindName } from '../objects/discovery.ts';
import { metadataOf } from '../objects/objects.ts';
import { manifestTargets } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb } from '../verb.ts';
import { createJob } from './create-job.ts';
import { createObject } from './create-object.ts';
import { createToken } from './create-token.ts';

export const create: Verb = {
  about: 'create objects from manifests',
  flags: { ...writeFlags, ...validateFlag, ...managerFlag },
  inner: { job: createJob, token: createToken, ...createObject },
  async run(context) {
    const { io, flags } = context;
    requireManifests(flags);
    const cluster = context.cluster();
    const dryRun = dryRunOf(flags);
    const format = printedFormat(flags);
    const parameters = writeQuery(dryRun, fieldValidationOf(flags), fieldManagerOf(flags));
    for await (const target of manifestTargets(context, cluster, 'create')) {
      const { resource, namespace, object } = target;
      try {
        const path = collectionPath(resource, namespace) + parameters;
        const result = dryRun === 'client' ? object : await cluster.send('POST', path, object);
        const name = metadataOf(result).name;
        io.out(format ? format(result) : `${kindName(resource)}/${name} created${dryRunSuffix[dryRun]}\n`);
      } catch (error) {
        await reportInFile(context, target, error, 'error when creating');
      }
    }
  },
};
