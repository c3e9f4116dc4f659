/** `ctl run`: creates a pod with one image; with -i connects its program to this terminal. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { beginWork } from '../../terminal/live-lines.ts';
import { ExitError } from '../errors.ts';
import {
  dryRunFlag,
  dryRunOf,
  dryRunSuffix,
  type Flags,
  type FlagTable,
  printFlags,
} from '../flags/flags.ts';
import { writeQuery } from '../flags/write-options.ts';
import { findResource } from '../objects/discovery.ts';
import { follow } from '../objects/follow.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { hasEnded } from '../objects/objects.ts';
import { joinFlags, podTimeoutOf } from '../objects/pods.ts';
import { printedFormat } from '../printers/object-format.ts';
import { showPods } from '../progress/pod-progress.ts';
import { attachOrLog, printContainerLog } from '../streaming/attach.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { failureOf, isRunning, podOf, type RestartPolicy } from './run-plan.ts';

const flagTable = {
  image: { type: 'string', hint: 'IMAGE', about: 'the image of the container' },
  command: {
    type: 'boolean',
    about: 'use the words after -- as command of the container, not as its arguments',
  },
  labels: { type: 'string', short: 'l', hint: 'KEY=VALUE,…', about: 'labels of the pod', usual: 'run=NAME' },
  annotations: { type: 'string', hint: 'KEY=VALUE', about: 'an annotation of the pod; may be repeated' },
  env: { type: 'string', hint: 'KEY=VALUE', about: 'an environment variable; may be repeated' },
  port: { type: 'string', hint: 'PORT', about: 'the port that the container listens on' },
  restart: {
    type: 'string',
    hint: 'Always|OnFailure|Never',
    about: 'restart policy of the pod',
    usual: 'Always',
  },
  'image-pull-policy': { type: 'string', hint: 'Always|IfNotPresent|Never', about: 'when to pull the image' },
  privileged: { type: 'boolean', about: 'run the container in privileged mode' },
  attach: { type: 'boolean', about: 'attach to the container once it is running; -i implies it' },
  'leave-stdin-open': {
    type: 'boolean',
    about: 'keep the standard input of the container open after the first client detaches',
  },
  rm: { type: 'boolean', about: 'delete the pod after it exits' },
  ...joinFlags,
  ...dryRunFlag,
  ...printFlags,
} as const satisfies FlagTable;

export const run: Verb = {
  about: 'run an image in a new pod: run NAME --image=IMAGE -- ARGUMENT…',
  words: 'NAME',
  flags: flagTable,
  async run(context) {
    const { flags, io } = context;
    const joins = flags.given('attach') ? flags.on('attach') : flags.on('stdin');
    const pod = requested(flags, joins);
    const format = printedFormat(flags);
    const dryRun = dryRunOf(flags);
    const cluster = context.cluster();
    const resource = findResource(await cluster.resources(), 'pods');
    const { namespace } = cluster;
    const path = collectionPath(resource, namespace) + writeQuery(dryRun);
    const made = dryRun === 'client' ? pod : await cluster.send('POST', path, pod);
    const target = { resource, namespace, name: flags.words[0] ?? '' };
    if (!joins) return io.out(format?.(made) ?? `pod/${target.name} created${dryRunSuffix[dryRun]}\n`);
    try {
      await join(context, target);
    } finally {
      if (flags.on('rm')) await remove(context, target);
    }
  },
};

function requested(flags: Flags, joins: boolean): JsonObject {
  const [name, ...args] = flags.words;
  const image = flags.text('image');
  const [stdin, tty] = [flags.on('stdin'), flags.on('tty')];
  if (name === undefined || flags.behindDashes?.length === flags.words.length)
    throw new UsageError('ctl run: give the pod a name: run NAME --image=IMAGE');
  if (!image) throw new UsageError('ctl run: --image is required');
  if (tty && !stdin) throw new UsageError('ctl run: -t needs -i');
  if (flags.on('rm') && !joins) throw new UsageError('ctl run: --rm needs --attach or -i');
  if (joins && dryRunOf(flags) !== 'none')
    throw new UsageError('ctl run: --dry-run creates no pod to attach to: leave out --attach and -i');
  return podOf({
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
  });
}

const restartPolicyOf = (flags: Flags): RestartPolicy =>
  flags.oneOf('restart', ['Always', 'OnFailure', 'Never'] as const) ?? 'Always';

/**
 * Attaches to the program. Rejects with its exit code if it fails, unless the pod restarts it or stdin stays
 * open.
 */
async function join(context: VerbContext, target: ObjectTarget): Promise<void> {
  const { flags } = context;
  const object = await untilStarted(context, target);
  const pod = { target, object };
  if (hasEnded(object)) await printContainerLog(context, pod, target.name);
  else await attachOrLog(context, pod, target.name);
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

/** Rejects if the condition is not met before the timeout, or if the pod is deleted. */
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

async function remove({ flags, io, cluster }: VerbContext, target: ObjectTarget): Promise<void> {
  if (io.signal.aborted) return;
  try {
    await cluster().send('DELETE', targetPath(target), { kind: 'DeleteOptions', apiVersion: 'v1' });
    if (!flags.on('quiet')) io.out(`pod "${target.name}" deleted\n`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
