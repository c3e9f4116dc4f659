/** `minik8s samples`: writes the samples of the pages of docs, which are inside the executable. */
import { join } from 'node:path';
import { defineCommand } from 'citty';
import { UsageError } from '../base/usage-error.ts';
import { readAsset } from '../os/assets.ts';
import { readSampleFiles } from './samples/sample-files.ts';
import { writeSamples } from './samples/write-samples.ts';

const usualFolder = 'minik8s-samples';

export const command = defineCommand({
  meta: { description: 'write the samples of the docs to a folder, with what makes their images' },
  ...{
    examples: [
      `samples # write them to ${usualFolder}, in this folder`,
      'samples /root/try # write them to another folder',
    ],
  },
  args: {
    folder: {
      type: 'positional',
      required: false,
      description: `new or empty folder to write [default ${usualFolder}]`,
    },
  },
  async run({ args }) {
    const [folder = usualFolder, ...more] = args._;
    if (folder === '' || more.length > 0)
      throw new UsageError('minik8s samples takes the name of one folder');
    const files = readSampleFiles(readAsset('samples.zst'));
    const isNew = await writeSamples(folder, files);
    process.stdout.write(
      [
        isNew ? `${files.length} files written to ${folder}` : `the samples are in ${folder} already`,
        `their image is made by: ${join(folder, 'bin/make-images')}`,
        `how to try them:        ${join(folder, 'samples/README.md')}`,
        '',
      ].join('\n'),
    );
  },
});
