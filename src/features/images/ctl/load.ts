/** `ctl image load`: brings images of this machine's engine, or of a file, to the cluster. */
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StatusError } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import { UsageError } from '../../../base/usage-error.ts';
import type { FlagTable } from '../../../cli/flags/flags.ts';
import type { Verb, VerbContext } from '../../../cli/verb.ts';
import { call } from '../../../docker/call.ts';
import { dockerClient } from '../../../docker/client.ts';
import { inspectImage } from '../../../docker/images.ts';
import { makeTemporaryFolder } from '../../../os/temporary-folder.ts';
import { beginWork } from '../../../terminal/live-lines.ts';
import type { Image } from '../api/image.ts';
import { imageSizeOf, isReady, mastersWith } from '../api/image-content.ts';
import { fullImageName, objectNameOf, shortImageName } from '../api/image-name.ts';
import { type LocalImage, readImageFile } from './image-file.ts';
import { inBytes } from './in-bytes.ts';
import { sendImage } from './send-image.ts';

export const imagesPath = '/apis/minik8s.io/v1/images';

const flags = {
  name: { type: 'string', hint: 'NAME', about: 'load the image under this name', usual: 'its own name' },
  'all-nodes': {
    type: 'boolean',
    about: 'bring the image to all nodes at once, not only to those of its pods',
  },
} as const satisfies FlagTable;

export const load: Verb = {
  about: "bring images of this machine's engine, or of a file, to all nodes that need them",
  words: ['NAME...', 'FILE.tar...'],
  flags,
  examples: [
    'ctl image load app:1 # bring an image of this machine to the nodes of its pods',
    'ctl image load app.tar --name app:1 # load a file that docker save wrote',
    'ctl image load app:1 --all-nodes # bring it to all nodes at once',
  ],
  async run(context) {
    const { words } = context.flags;
    if (words.length === 0) throw new UsageError('ctl image load: say which image: NAME or FILE.tar');
    if (context.flags.given('name') && words.length > 1)
      throw new UsageError('ctl image load: --name can be given for one image only');
    await using directory = await makeTemporaryFolder(tmpdir(), 'minik8s-image-');
    for (const word of words) await loadWord(context, word, directory.path);
  },
};

async function loadWord(context: VerbContext, word: string, directory: string): Promise<void> {
  const isFile = await stat(word).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isFile && /\.tar$|^[./]/.test(word)) throw new Error(`there is no file ${word}`);
  const path = isFile ? word : await saved(context, word, directory);
  const images = await readImageFile({ path, directory, signal: context.io.signal });
  const given = context.flags.text('name') ?? (isFile ? undefined : word);
  for (const { name, image } of named(word, images, given)) await loadImage(context, name, image);
}

/** Returns the images with each of their names, or with the given one. */
function named(word: string, images: readonly LocalImage[], given: string | undefined) {
  if (given !== undefined && images.length !== 1)
    throw new Error(`${word} has ${images.length} images: load it without --name`);
  return images.flatMap((image) => {
    const names = given === undefined ? image.names : [given];
    if (names.length === 0) throw new Error(`${word} has an image without a name: give one with --name`);
    return names.map((name) => ({ name, image }));
  });
}

/** Saves an image of the engine into a file. */
async function saved({ io }: VerbContext, name: string, directory: string): Promise<string> {
  const docker = dockerClient();
  if (!(await inspectImage(docker, name)))
    throw new Error(
      `this machine's engine has no image ${name}: build or pull it, or give a file of docker save (NAME.tar)`,
    );
  using work = beginWork(io.progress, `image ${name}`);
  work.say('reading it from the engine');
  const path = join(directory, 'saved.tar');
  const stream = await call(`save ${name}`, () => docker.getImage(name).get());
  await pipeline(
    Readable.from(stream as AsyncIterable<Uint8Array>),
    createWriteStream(path, { mode: 0o600 }),
    {
      signal: io.signal,
    },
  );
  return path;
}

async function loadImage(context: VerbContext, name: string, image: LocalImage): Promise<void> {
  const { io, flags: given } = context;
  const full = fullImageName(name);
  if (full === undefined)
    throw new Error(`${name} has a digest: load the image under a name with a tag (--name)`);
  const object = objectNameOf(full);
  const { content } = image;
  const allNodes = given.on('all-nodes');
  const before = await declared(context, object, { image: full, ...content, ...(allNodes && { allNodes }) });
  const shown = `image ${shortImageName(full)}`;
  const what = `(${content.config.digest}, ${inBytes(imageSizeOf(content))})`;
  // A master that has lost its copy gets it again.
  if (isReady(before) && mastersWith(before).length > 0) return io.out(`${shown} is held already ${what}\n`);
  await send(context, shown, `${imagesPath}/${object}/upload`, image);
  io.out(`${shown} loaded ${what}\n`);
  if (full.endsWith(':latest')) io.err(noteOnLatest(shortImageName(full)));
}

async function send({ io, cluster }: VerbContext, shown: string, path: string, image: LocalImage) {
  using work = beginWork(io.progress, shown);
  const size = inBytes(imageSizeOf(image.content));
  const sending = {
    cluster: cluster(),
    clock: io.clock,
    signal: io.signal,
    onProgress: (bytes: number) => work.say(`${inBytes(bytes)} of ${size}`),
    onRetry: (error: unknown) => work.say(`trying again: ${errorMessage(error)}`),
  };
  await sendImage(sending, path, image);
}

const noteOnLatest = (name: string) =>
  `Note: pods with ${name} ask a registry for it unless they have imagePullPolicy IfNotPresent or Never; ` +
  'with a tag other than latest they need no policy\n';

/** Creates the Image, or gives an existing one the content; returns it. */
async function declared(context: VerbContext, name: string, spec: object): Promise<Image> {
  const cluster = context.cluster();
  const object = { apiVersion: 'minik8s.io/v1', kind: 'Image', metadata: { name }, spec };
  try {
    return (await cluster.send('POST', imagesPath, object)) as unknown as Image;
  } catch (error) {
    if (!(error instanceof StatusError && error.status.reason === 'AlreadyExists')) throw error;
  }
  const patched = await cluster.send(
    'PATCH',
    `${imagesPath}/${name}`,
    { spec },
    'application/merge-patch+json',
  );
  return patched as unknown as Image;
}
