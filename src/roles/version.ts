/**
 * `minik8s version`: the version of the executable, and the format of the data that it writes. It is part of
 * main, so that no application is loaded for it.
 */
import { defineCommand } from 'citty';
import { version } from '../base/version.ts';
import { dataSteps } from '../storage/data-format.ts';

export const versionCommand = defineCommand({
  meta: { description: 'print the version' },
  ...{ examples: ['version # print the version'] },
  args: {
    'data-format': { type: 'boolean', description: 'print the newest format of stored data that it reads' },
  },
  run({ args }) {
    process.stdout.write(`${args['data-format'] === true ? dataSteps.length : version()}\n`);
  },
});
