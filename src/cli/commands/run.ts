/** `ctl run`: creates a pod with one image; with -i connects its program to this terminal. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { beginWork } from '../../terminal/live-lines.ts';
import { overrideFlags, withOverrides } from '../create/overrides.ts';
import { inNamespace, withConfig } from '../create/write-made.ts';
import { ExitError } from '../errors.ts';
import { dryRunFlag, dryRunOf, dryRunSuffix, type Flags, type FlagTable } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import { fieldManagerOf, managerFlag, saveConfigFlag, writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { findResource } from '../objects/discovery.ts';
import { follow } from '../objects/follow.ts';
import type { ObjectTarget } from '../objects/object-target.ts';
import { hasEnded, metadataOf } from '../objects/objects.ts';
import { detachFlag, joinFlags, podTimeoutOf } from '../objects/pods.ts';
import { madeFormat, qualifiedName, typedFormat } from '../printers/object-format.ts';
import { showPods } from '../progress/pod-progress.ts';
import { attachOrLog, printContainerLog } from '../streaming/attach.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { failureOf, isRunning, podOf, type RestartPolicy, type RunRequest, serviceOf } from './run-plan.ts';
import { removalFlags, removalOf, removeMade } from './run-removal.ts';

const flagTable = {
  image: { type: 'string', hint: 'IMAGE', about: 'image of the container; required' },
  command: {
    type: 'boolean',
    about: 'use the words after -- as command of the container, not as its arguments',
  },
  labels: { type: 'string', short: 'l', hint: 'KEY=VALUE,…', about: 'labels of the pod', usual: 'run=NAME' },
  annotations: { type: 'string', hint: 'KEY=VALUE', about: 'an annotation of the pod; may be repeated' },
  env: { type: 'string', hint: 'KEY=VALUE', about: 'an environment variable; may be repeated' },
  port: { type: 'string', hint: 'PORT', about: 'port that the container listens on' },
  restart: {
    type: 'string',
    hint: 'Always|OnFailure|Never',
    about: 'restart policy of the pod',
    usual: 'Always',
  },
  'image-pull-policy': {
    type: 'string',
    hint: 'Always|IfNotPresent|Never',
    about: 'when to pull the image',
    usual: 'Always for the tag latest, else IfNotPresent',
  },
  privileged: { type: 'boolean', about: 'run the container in privileged mode' },
  attach: { type: 'boolean', about: 'attach to the container once it is running; -i implies it' },
  'leave-stdin-open': {
    type: 'boolean',
    about: 'keep the standard input of the container open after the first client detaches',
  },
  expose: { type: 'boolean', about: 'also create a Service for the pod; needs --port' },
  rm: { type: 'boolean', about: 'delete the pod after it exits' },
  ...removalFlags,
  ...overrideFlags,
  ...managerFlag,
  ...saveConfigFlag,
  ...joinFlags,
  ...detachFlag,
  ...dryRunFlag,
  ...printFlags,
} as const satisfies FlagTable;

export const run: Verb = {
  about: 'run an image in a new pod',
  group: 'Basic Commands (Beginner)',
  words: ['NAME --image=IMAGE [-- ARG...]', 'NAME --image=IMAGE --command -- COMMAND [ARG...]'],
  flags: flagTable,
  examples: [
    'ctl run web --image=nginx # start a pod',
    'ctl run -it --rm shell --image=busybox --restart=Never -- sh # open a shell in a pod that is deleted at its end',
    'ctl run web --image=nginx --env=COLOR=blue --labels=app=web # set variables and labels',
    'ctl run web --image=nginx --dry-run=client -o yaml # print the manifest',
    'ctl run web --image=nginx --port=80 --expose # also create a Service for it',
    `ctl run web --image=nginx --overrides='{"spec":{"nodeName":"node-1"}}' # change the pod that is made`,
  ],
  async run(context) {
    const { flags, io } = context;
    const joins = flags.given('attach') ? flags.on('attach') : flags.on('stdin');
    const request = requested(flags, joins);
    const removal = removalOf(flags);
    const print = await printerOf(context);
    const pod = await withOverrides(io, flags, podOf(request), 'core.v1.Pod');
    const made = [await create(context, 'pods', pod)];
    try {
      if (flags.on('expose')) {
        const service = await create(context, 'services', serviceOf(request));
        made.push(service);
        io.out(print(service.object));
        // kubectl writes two separators between the objects: one of its YAML printer, and one of run itself.
        if (flags.text('output') === 'yaml') io.out('---\n');
      }
      const [{ target, object }] = made as [Created];
      if (joins) await join(context, target);
      else io.out(print(object));
    } finally {
      if (flags.on('rm'))
        await forEachReported(context, made, ({ target }) => removeMade(context, target, removal));
    }
  },
};

interface Created {
  readonly target: ObjectTarget;
  /** The server's answer, or in a dry run by the client the object itself. */
  readonly object: JsonObject;
}

async function create({ flags, cluster }: VerbContext, type: string, made: JsonObject): Promise<Created> {
  const dryRun = dryRunOf(flags);
  const { namespace, namespaceGiven } = cluster();
  const resource = findResource(await cluster().resources(), type);
  const target = { resource, namespace, name: metadataOf(made).name };
  if (dryRun === 'client') return { target, object: namespaceGiven ? inNamespace(made, namespace) : made };
  // The server warns about fields of --overrides that the kind does not have.
  const query = writeQuery(dryRun, 'Warn', fieldManagerOf(flags));
  const object = withConfig(made, flags.on('save-config'));
  return {
    target,
    object: await cluster().send('POST', collectionPath(resource, namespace) + query, object),
  };
}

/** Returns a function that makes the text for an object that was created. */
async function printerOf(context: VerbContext): Promise<(object: JsonObject) => string> {
  const { flags } = context;
  const dryRun = dryRunOf(flags);
  const format = dryRun === 'client' ? madeFormat(flags) : await typedFormat(context);
  return format ?? ((object) => `${qualifiedName(object)} created${dryRunSuffix[dryRun]}\n`);
}

function requested(flags: Flags, joins: boolean): RunRequest {
  const [name, ...args] = flags.words;
  const image = flags.text('image');
  const [stdin, tty] = [flags.on('stdin'), flags.on('tty')];
  if (name === undefined || flags.behindDashes?.length === flags.words.length)
    throw new UsageError('ctl run: give the pod a name: run NAME --image=IMAGE');
  if (!image) throw new UsageError('ctl run: --image is required');
  if (tty && !stdin) throw new UsageError('ctl run: -t needs -i');
  checkCombination(flags, joins);
  return {
    name,
    image,
    args,
    isCommand: flags.on('command'),
    labels: flags.text('labels'),
    annotations: flags.texts('annotations'),
    env: flags.texts('env'),
    port: flags.whole('port'),
    restartPolicy: restartPolicyOf(flags),
    imagePullPolicy: flags.oneOf('image-pull-policy', ['Always', 'IfNotPresent', 'Never'] as const),
    privileged: flags.on('privileged'),
    stdin,
    stdinOnce: stdin && !flags.on('leave-stdin-open'),
    tty,
  };
}

/** Throws UsageError for flags that need others, or exclude them. */
function checkCombination(flags: Flags, joins: boolean): void {
  if (flags.on('rm') && !joins) throw new UsageError('ctl run: --rm needs --attach or -i');
  if (joins && dryRunOf(flags) !== 'none')
    throw new UsageError('ctl run: --dry-run creates no pod to attach to: leave out --attach and -i');
  if (flags.on('expose') && !flags.given('port'))
    throw new UsageError('ctl run: --port must be set when exposing a service');
}

const restartPolicyOf = (flags: Flags): RestartPolicy =>
  flags.oneOf('restart', ['Always', 'OnFailure', 'Never'] as const) ?? 'Always';

/**
 * Attaches to the program. Rejects with its exit code if it fails, unless the pod restarts it, stdin stays
 * open, or the user detaches from it.
 */
async function join(context: VerbContext, target: ObjectTarget): Promise<void> {
  const { flags } = context;
  const object = await untilStarted(context, target);
  const pod = { target, object };
  if (hasEnded(object)) await printContainerLog(context, pod, target.name);
  else if (await attachOrLog(context, pod, target.name)) return;
  if (restartPolicyOf(flags) === 'Always' || flags.on('leave-stdin-open')) return;
  const ended = await until(context, target, hasEnded);
  const failure = failureOf(ended);
  if (failure) throw new ExitError(failure.message, failure.code);
}

/** Returns the pod once its program runs or has ended; shows meanwhile what the pod waits for. */
async function untilStarted(context: VerbContext, target: ObjectTarget): Promise<JsonObject> {
  using work = beginWork(context.io.progress, `pod/${target.name}`);
  await using _showing = showPods(context, target, work);
  return await until(context, target, (pod) => isRunning(pod) || hasEnded(pod));
}

/** Resolves to the pod when it meets the condition. Rejects after the timeout, and if the pod is deleted. */
async function until(
  { flags, io, cluster }: VerbContext,
  target: ObjectTarget,
  condition: (pod: JsonObject) => boolean,
): Promise<JsonObject> {
  const timeoutMs = podTimeoutOf(flags);
  for await (const pod of follow(cluster(), target, { clock: io.clock, timeoutMs })) {
    if (!pod) throw new Error(`pod ${target.name} was deleted`);
    if (condition(pod)) return pod;
  }
  throw new Error('timed out waiting for the condition');
}
