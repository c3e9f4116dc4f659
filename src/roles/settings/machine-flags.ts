/** Flags of commands that examine this machine; they have the names and defaults of settings. */
import type { FlagTable } from '../../cli/flags/flags.ts';
import { settingTable } from './setting-table.ts';

export const machineFlags = {
  'data-dir': {
    type: 'string',
    hint: 'DIRECTORY',
    about: 'directory of all state',
    usual: settingTable['data-dir'].default,
  },
  'docker-socket': {
    type: 'string',
    hint: 'FILE',
    about: 'socket of the Docker engine',
    usual: settingTable['docker-socket'].default,
  },
} as const satisfies FlagTable;
