/** `ctl image`: images that the cluster holds, for clusters without a registry. */
import { humanDuration } from '../../../apimachinery/age.ts';
import { isNotFound } from '../../../apimachinery/status-error.ts';
import { UsageError } from '../../../base/usage-error.ts';
import type { FlagTable } from '../../../cli/flags/flags.ts';
import { outputFlag } from '../../../cli/flags/output-flags.ts';
import { forEachReported } from '../../../cli/for-each-reported.ts';
import { recordsAt } from '../../../cli/objects/objects.ts';
import { printedFormat } from '../../../cli/printers/object-format.ts';
import { TableWriter } from '../../../cli/printers/table-writer.ts';
import type { Verb, VerbContext, VerbGroup } from '../../../cli/verb.ts';
import type { Image } from '../api/image.ts';
import { imageSizeOf, isReady, nodesWith } from '../api/image-content.ts';
import { fullImageName, objectNameOf, shortImageName } from '../api/image-name.ts';
import { inBytes } from './in-bytes.ts';
import { imagesPath, load } from './load.ts';

const listFlags = { ...outputFlag } as const satisfies FlagTable;

const ls: Verb = {
  about: 'list the images that the cluster holds, and the nodes that have them',
  flags: listFlags,
  examples: [
    'ctl image ls # list the images and the nodes that have them',
    'ctl image ls -o json # print them as JSON',
  ],
  async run(context) {
    const { io, flags, palette } = context;
    if (flags.words.length > 0) throw new UsageError('ctl image ls takes no words');
    const list = await context.cluster().get(imagesPath);
    const format = printedFormat(flags);
    if (format) return io.out(format(list));
    const images = recordsAt(list, 'items') as unknown as readonly Image[];
    if (images.length === 0) return io.err('The cluster holds no images\n');
    const rows = images.map((image) => rowOf(image, io.clock.now()));
    io.out(new TableWriter(palette).format(rows, ['IMAGE', 'DIGEST', 'SIZE', 'NODES', 'AGE']));
  },
};

function rowOf(image: Image, now: number): readonly string[] {
  const { metadata, spec, status } = image;
  const digest = status?.content?.config.digest.slice(0, 'sha256:'.length + 12) ?? '';
  const state = isReady(image) ? digest : `${digest} (uploading)`.trim();
  const age = humanDuration(now - Date.parse(metadata.creationTimestamp ?? ''));
  const nodes = nodesWith(image).toSorted().join(',') || '<none>';
  return [shortImageName(spec.image), state, inBytes(imageSizeOf(status?.content ?? spec)), nodes, age];
}

const rm: Verb = {
  about: 'remove images from the cluster; pods that run are not disturbed',
  words: 'NAME …',
  examples: ['ctl image rm app:1 # remove an image from the cluster'],
  async run(context) {
    const { words } = context.flags;
    if (words.length === 0) throw new UsageError('ctl image rm: say which image: NAME');
    await forEachReported(context, words, (word) => remove(context, word));
  },
};

async function remove({ io, cluster }: VerbContext, word: string): Promise<void> {
  const full = fullImageName(word);
  const missing = `the cluster holds no image ${word}; minik8s ctl image ls lists those that it holds`;
  if (full === undefined) throw new Error(missing);
  try {
    await cluster().send('DELETE', `${imagesPath}/${objectNameOf(full)}`, undefined);
  } catch (error) {
    throw isNotFound(error) ? new Error(missing) : error;
  }
  io.out(`image ${shortImageName(full)} removed\n`);
}

export const image: VerbGroup = {
  about: 'manage images that the cluster holds, without a registry',
  group: 'Advanced Commands',
  examples: ['ctl image load app:1 # bring an image to the cluster', 'ctl image ls # list its images'],
  verbs: { load, ls, rm },
};
