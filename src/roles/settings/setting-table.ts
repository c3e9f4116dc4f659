/** Every setting of every role, described once: its flag, its variable and its key in the file are the same word. */
import { clusterSettings } from './cluster-settings.ts';
import { nodeSettings } from './node-settings.ts';
import { define, directory, oneOf } from './setting-values.ts';

export const settingTable = define({
  'data-dir': {
    about: 'directory of all state',
    hint: 'DIRECTORY',
    default: '/var/lib/minik8s',
    read: directory,
  },
  ...clusterSettings,
  ...nodeSettings,
  'log-level': {
    about: 'lowest severity that is logged: debug, info, warn or error',
    hint: 'LEVEL',
    default: 'info',
    read: oneOf('debug', 'info', 'warn', 'error'),
  },
});
