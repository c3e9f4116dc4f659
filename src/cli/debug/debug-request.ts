/** The flags of `ctl debug`, and what they ask for. Pure. */
import { UsageError } from '../../base/usage-error.ts';
import { type Flags, type FlagTable, fileFlags } from '../flags/flags.ts';
import { stringMapOf } from '../flags/string-map.ts';
import { joinFlags } from '../objects/pods.ts';
import type { DebugRequest } from './debug-plan.ts';
import { isImageReference } from './image-reference.ts';
import { profiles } from './profiles.ts';

const keep = (what: string) =>
  ({ type: 'boolean', about: `with --copy-to: keep the ${what} of the pod` }) as const;

export const debugFlags = {
  image: { type: 'string', hint: 'IMAGE', about: 'image of the debugging container' },
  container: {
    type: 'string',
    short: 'c',
    hint: 'NAME',
    about: 'name of the debugging container',
    usual: 'debugger-XXXXX',
  },
  target: {
    type: 'string',
    hint: 'CONTAINER',
    about: 'container of the pod whose processes the debugging container sees',
  },
  profile: {
    type: 'string',
    hint: profiles.join('|'),
    about: 'what the debugging container may do',
    usual: 'legacy',
    values: profiles,
  },
  custom: {
    type: 'string',
    hint: 'FILE',
    about: 'JSON or YAML file with fields that the debugging container gets in addition',
  },
  env: {
    type: 'string',
    hint: 'KEY=VALUE',
    about: 'environment variables of the debugging container; may be repeated',
  },
  'image-pull-policy': {
    type: 'string',
    hint: 'Always|IfNotPresent|Never',
    about: 'when to pull the image',
    usual: 'Always for the tag latest, IfNotPresent for others',
  },
  'arguments-only': {
    type: 'boolean',
    about: 'the words after -- are arguments of the image, not the command',
  },
  attach: { type: 'boolean', about: 'attach to the container once it runs; -i implies it' },
  stdin: joinFlags.stdin,
  tty: joinFlags.tty,
  quiet: { type: 'boolean', short: 'q', about: 'print no messages about what is done' },
  'copy-to': { type: 'string', hint: 'NAME', about: 'debug a copy of the pod with this name' },
  replace: { type: 'boolean', about: 'with --copy-to: delete the pod once it is copied' },
  'same-node': { type: 'boolean', about: 'with --copy-to: run the copy on the node of the pod' },
  'set-image': {
    type: 'string',
    hint: 'CONTAINER=IMAGE,…',
    about: 'with --copy-to: other images for containers; * for all of them',
  },
  'share-processes': {
    type: 'boolean',
    on: true,
    about: 'with --copy-to: the containers of the copy see the processes of one another',
  },
  'keep-labels': keep('labels'),
  'keep-annotations': keep('annotations'),
  'keep-liveness': keep('liveness probes'),
  'keep-readiness': keep('readiness probes'),
  'keep-startup': keep('startup probes'),
  'keep-init-containers': {
    type: 'boolean',
    on: true,
    about: 'with --copy-to: keep the init containers of the pod',
  },
  filename: fileFlags.filename,
} as const satisfies FlagTable;

export interface DebugCommand {
  readonly request: DebugRequest;
  /** Words that name the pods or nodes. */
  readonly words: readonly string[];
  readonly attaches: boolean;
}

/** Throws UsageError for flags that cannot be combined, or that lack another. */
export function debugRequest(flags: Flags): DebugCommand {
  const args = flags.behindDashes ?? [];
  const words = flags.words.slice(0, flags.words.length - args.length);
  const request: DebugRequest = {
    image: flags.text('image') || undefined,
    container: flags.text('container') || undefined,
    args,
    argumentsOnly: flags.on('arguments-only'),
    env: [...stringMapOf(flags, 'env')],
    imagePullPolicy: flags.oneOf('image-pull-policy', ['Always', 'IfNotPresent', 'Never'] as const),
    stdin: flags.on('stdin'),
    tty: flags.on('tty'),
    profile: flags.oneOf('profile', profiles) ?? 'legacy',
    target: flags.text('target') || undefined,
    copyTo: flags.text('copy-to') || undefined,
    sameNode: flags.on('same-node'),
    shareProcesses: flags.given('share-processes') ? flags.on('share-processes') : undefined,
    setImages: stringMapOf(flags, 'set-image'),
    kept: {
      labels: flags.on('keep-labels'),
      annotations: flags.on('keep-annotations'),
      livenessProbe: flags.on('keep-liveness'),
      readinessProbe: flags.on('keep-readiness'),
      startupProbe: flags.on('keep-startup'),
      initContainers: flags.on('keep-init-containers'),
    },
  };
  const attaches = flags.given('attach') ? flags.on('attach') : request.stdin;
  const fault = faultOf(request, flags, words);
  if (fault !== undefined) throw new UsageError(`ctl debug: ${fault}`);
  return { request, words, attaches };
}

function faultOf(request: DebugRequest, flags: Flags, words: readonly string[]): string | undefined {
  const { image, container, copyTo, target, tty, stdin } = request;
  if (flags.on('attach') && !image && !container)
    return 'you must specify --container or create a new container using --image in order to attach';
  const fault = copyTo === undefined ? faultWithoutCopy(request, flags) : faultOfCopy(request);
  if (fault !== undefined) return fault;
  if (words.length === 0 && !flags.given('filename')) return 'NAME or filename is required for debug';
  if (target && copyTo !== undefined)
    return '--target is incompatible with --copy-to. Use --share-processes instead';
  if (tty && !stdin) return '-i/--stdin is required for containers with -t/--tty=true';
  return faultOfImages(request);
}

function faultOfCopy({ image, setImages, args, container }: DebugRequest): string | undefined {
  if (!image && setImages.size === 0 && args.length === 0)
    return 'you must specify --image, --set-image or command arguments';
  if (args.length > 0 && !container && !image)
    return 'you must specify an existing container or a new image when specifying args';
  return undefined;
}

function faultWithoutCopy({ image, sameNode, setImages }: DebugRequest, flags: Flags): string | undefined {
  if (flags.on('replace')) return '--replace may only be used with --copy-to';
  if (sameNode) return '--same-node may only be used with --copy-to';
  if (setImages.size > 0) return '--set-image may only be used with --copy-to';
  return image ? undefined : 'you must specify --image when not using --copy-to';
}

function faultOfImages({ image, setImages }: DebugRequest): string | undefined {
  if (image && !isImageReference(image))
    return `invalid image name ${JSON.stringify(image)}: invalid reference format`;
  const wrong = [...setImages].find(([, name]) => !isImageReference(name));
  return (
    wrong &&
    `invalid image name ${JSON.stringify(wrong[1])} for container ${JSON.stringify(wrong[0])}: invalid reference format`
  );
}
