/** `minik8s licenses`: the licences of minik8s and of everything bundled in the one file. */
import { defineCommand } from 'citty';
import { readAsset } from '../os/assets.ts';

export const command = defineCommand({
  meta: { description: 'print the licences of everything in this executable' },
  ...{ examples: ['licenses # print them all'] },
  run() {
    process.stdout.write(readAsset('licenses.txt'));
  },
});
