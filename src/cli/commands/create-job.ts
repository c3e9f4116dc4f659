/** `ctl create job`: a Job that runs an image, or a Job from a CronJob's template that starts now. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { newMetadata } from '../create/generator.ts';
import { makingFlags, writeMade } from '../create/write-made.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { findResource, kindName } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf, recordAt, textAt } from '../objects/objects.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flags = {
  image: { type: 'string', hint: 'IMAGE', about: 'the image of the container' },
  from: { type: 'string', hint: 'cronjob/NAME', about: 'CronJob to create the Job from' },
  ...makingFlags,
} as const satisfies FlagTable;

export const createJob: Verb = {
  about: 'create a Job from an image, or from the template of a CronJob',
  words: ['NAME --image=IMAGE [-- COMMAND [ARG...]]', 'NAME --from=cronjob/NAME'],
  flags,
  examples: [
    'ctl create job hello --image=busybox -- date # run a command once',
    'ctl create job now --from=cronjob/backup # run a CronJob now',
  ],
  async run(context) {
    const { flags: given } = context;
    const { name, command } = requested(given);
    const from = given.text('from');
    const job = from
      ? ofCronJob(name, await cronJobOf(context, from))
      : ofImage(name, given.text('image') ?? '', command);
    await writeMade(context, job, { resource: 'jobs.batch' });
  },
};

function requested(given: Flags): { readonly name: string; readonly command: readonly string[] } {
  const [name, ...command] = given.words;
  if (!name || given.behindDashes?.length === given.words.length)
    throw new UsageError('ctl create job: exactly one NAME is required: the name of the Job');
  if (Boolean(given.text('image')) === Boolean(given.text('from')))
    throw new UsageError('ctl create job: either --image or --from must be specified');
  if (given.text('from') && command.length > 0)
    throw new UsageError('ctl create job: cannot specify --from and a command');
  return { name, command };
}

async function cronJobOf(context: VerbContext, from: string): Promise<JsonObject> {
  const cluster = context.cluster();
  const [type = '', name = '', ...more] = from.split('/');
  if (!type || !name || more.length > 0)
    throw new UsageError(`ctl create job: --from takes cronjob/NAME, not ${JSON.stringify(from)}`);
  const resource = findResource(await cluster.resources(), type);
  if (kindName(resource) !== 'cronjob.batch')
    throw new UsageError(`ctl create job: --from must be a cronjob, not ${kindName(resource)}`);
  return cluster.get(targetPath({ resource, namespace: cluster.namespace, name }));
}

const job = (metadata: JsonObject, spec: unknown): JsonObject => ({
  kind: 'Job',
  apiVersion: 'batch/v1',
  metadata,
  spec,
  status: {},
});

function ofImage(name: string, image: string, command: readonly string[]): JsonObject {
  const container = { name, image, ...(command.length > 0 && { command: [...command] }), resources: {} };
  const template = {
    metadata: newMetadata(),
    spec: { containers: [container], restartPolicy: 'Never' },
  };
  return job(newMetadata(name), { template });
}

function ofCronJob(name: string, cronJob: JsonObject): JsonObject {
  const template = recordAt(cronJob, 'spec', 'jobTemplate');
  const { labels, annotations } = recordAt(template, 'metadata');
  const owner = {
    apiVersion: textAt(cronJob, 'apiVersion'),
    kind: textAt(cronJob, 'kind'),
    name: metadataOf(cronJob).name,
    uid: textAt(cronJob, 'metadata', 'uid'),
    // blockOwnerDeletion is left out, since it requires more permissions than creating Jobs.
    controller: true,
  };
  const metadata = newMetadata(name, {
    ...(labels !== undefined && { labels }),
    annotations: {
      'cronjob.kubernetes.io/instantiate': 'manual',
      ...(annotations as JsonObject | undefined),
    },
    ownerReferences: [owner],
  });
  return job(metadata, template.spec);
}
