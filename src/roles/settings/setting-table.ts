/**
 * Definitions of every setting of every role. A setting's flag, variable and key in the file are the same
 * word.
 */
import { parseLogLevels } from '../../terminal/log-levels.ts';
import { logFormats } from '../../terminal/log-line.ts';
import { backupSettings } from './backup-settings.ts';
import { clusterSettings } from './cluster-settings.ts';
import { nodeSettings } from './node-settings.ts';
import { define, directory, oneOf } from './setting-values.ts';
import { tracingSettings } from './tracing-settings.ts';

export const settingTable = define({
  'data-dir': {
    about: 'directory of all state',
    hint: 'DIRECTORY',
    default: '/var/lib/minik8s',
    read: directory,
  },
  ...clusterSettings,
  ...backupSettings,
  ...nodeSettings,
  ...tracingSettings,
  'log-level': {
    about: 'minimum level to log: debug, info, warn or error; COMPONENT=LEVEL sets it for a component',
    hint: 'LEVEL,…',
    default: 'info',
    read: parseLogLevels,
  },
  'log-format': {
    about: 'log format',
    hint: 'text|json',
    default: 'text',
    read: oneOf(...logFormats),
  },
});
