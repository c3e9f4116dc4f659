/** Settings of the backups that a master creates by itself. */
import { duration } from './duration.ts';
import { define, directory, text, wholeNumber } from './setting-values.ts';

export const backupSettings = define({
  'backup-interval': {
    about: 'time between backups of the cluster, such as 24h',
    hint: 'DURATION',
    usual: 'no backups',
    read: duration('1m', '8760h'),
  },
  'backup-dir': {
    about: 'directory of the backups',
    hint: 'DIRECTORY',
    default: '/var/backups/minik8s',
    read: directory,
  },
  'backup-keep': {
    about: 'number of backups to keep; older ones are removed after each new one',
    default: '7',
    read: wholeNumber(1, 10_000),
  },
  'backup-passphrase-file': {
    about: 'file whose first line encrypts the backups',
    hint: 'FILE',
    usual: 'not encrypted',
    read: text,
  },
});

export const backupSettingNames = [
  'backup-interval',
  'backup-dir',
  'backup-keep',
  'backup-passphrase-file',
] as const satisfies readonly (keyof typeof backupSettings)[];
