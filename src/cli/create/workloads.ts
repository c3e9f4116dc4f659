/** `ctl create deployment`, `cronjob` and `serviceaccount`. */
import { UsageError } from '../../base/usage-error.ts';
import { type Generator, type Given, newMetadata } from './generator.ts';

const deploymentGenerator: Generator = {
  about: 'create a Deployment that runs an image',
  resource: 'deployments.apps',
  takesCommand: true,
  flags: {
    image: { type: 'string', hint: 'IMAGE', about: 'image of a container; may be repeated' },
    replicas: { type: 'string', short: 'r', hint: 'COUNT', about: 'number of pods', usual: '1' },
    port: { type: 'string', hint: 'PORT', about: 'port that the first container listens on' },
  },
  usage: '--image=IMAGE [-- COMMAND [ARG...]]',
  examples: [
    'deployment web --image=nginx --replicas=3 --port=80 # run three pods',
    'deployment clock --image=busybox -- sh -c "date; sleep 60" # run a command',
  ],
  make(given) {
    const { name, flags, command } = given;
    const images = flags.texts('image').flatMap((text) => text.split(','));
    if (images.length === 0) throw new UsageError('required flag(s) "image" not set');
    if (images.length > 1 && command.length > 0)
      throw new UsageError('cannot specify multiple --image options and command');
    const labels = { app: name };
    const port = flags.whole('port') ?? -1;
    const containers = images.map((image, index) => ({
      name: containerName(given, image),
      image,
      ...(command.length > 0 && { command: [...command] }),
      ...(index === 0 && port >= 0 && { ports: [{ containerPort: port }] }),
      resources: {},
    }));
    return {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: newMetadata(name, { labels }),
      spec: {
        replicas: flags.whole('replicas') ?? 1,
        selector: { matchLabels: labels },
        template: { metadata: newMetadata(undefined, { labels }), spec: { containers } },
        strategy: {},
      },
      status: {},
    };
  },
};

/** Returns the name of an image without registry and tag; one with a dot or `_` gets random letters. */
function containerName({ suffix }: Given, image: string): string {
  const name = image.replace(/^.*\//, '').replace(/[:@].*$/, '');
  return /[_.]/.test(name) ? `${name.replaceAll(/[_.]/g, '-')}-${suffix()}` : name;
}

const cronJobGenerator: Generator = {
  about: 'create a CronJob that runs an image on a schedule',
  resource: 'cronjobs.batch',
  takesCommand: true,
  flags: {
    image: { type: 'string', hint: 'IMAGE', about: 'image of the container' },
    schedule: { type: 'string', hint: 'CRON', about: 'schedule in cron format, such as "*/5 * * * *"' },
    restart: {
      type: 'string',
      hint: 'OnFailure|Never',
      about: 'restart policy of the pods',
      usual: 'OnFailure',
    },
  },
  usage: '--image=IMAGE --schedule=CRON [-- COMMAND [ARG...]]',
  examples: ['cronjob backup --image=busybox --schedule="0 3 * * *" -- date # run a command every night'],
  make({ name, flags, command }) {
    const [image, schedule] = [flags.text('image'), flags.text('schedule')];
    if (!image) throw new UsageError('--image must be specified');
    if (!schedule) throw new UsageError('--schedule must be specified');
    const restartPolicy = flags.text('restart') || 'OnFailure';
    const container = { name, image, ...(command.length > 0 && { command: [...command] }), resources: {} };
    const template = {
      metadata: newMetadata(),
      spec: { containers: [container], restartPolicy },
    };
    return {
      kind: 'CronJob',
      apiVersion: 'batch/v1',
      metadata: newMetadata(name),
      spec: { schedule, jobTemplate: { metadata: newMetadata(name), spec: { template } } },
      status: {},
    };
  },
};

const serviceAccountGenerator: Generator = {
  about: 'create a ServiceAccount',
  resource: 'serviceaccounts',
  flags: {},
  examples: ['serviceaccount robot # create a service account'],
  make: ({ name }) => ({ kind: 'ServiceAccount', apiVersion: 'v1', metadata: newMetadata(name) }),
};

/** Generators with the short names that kubectl accepts. */
export const workloadGenerators: Readonly<Record<string, Generator>> = {
  deployment: deploymentGenerator,
  deploy: deploymentGenerator,
  cronjob: cronJobGenerator,
  cj: cronJobGenerator,
  serviceaccount: serviceAccountGenerator,
  sa: serviceAccountGenerator,
};
