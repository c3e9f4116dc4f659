/** Settings of the backups that a master creates by itself. */
import { define } from '../../settings/definition.ts';
import { duration } from '../../settings/duration.ts';
import { directory, text, wholeNumber } from '../../settings/readers.ts';

export const backupSettings = define({
  'backup-interval': {
    about: 'time between backups of the cluster, such as 24h',
    hint: 'DURATION',
    usual: 'no backups',
    read: duration('1m', '8760h'),
    subject: 'Backups',
    parts: ['control plane'],
  },
  'backup-dir': {
    about: 'directory of the backups',
    hint: 'DIRECTORY',
    default: '/var/backups/minik8s',
    read: directory,
    subject: 'Backups',
    parts: ['control plane'],
  },
  'backup-keep': {
    about: 'number of backups to keep; older ones are removed after each new one',
    default: '7',
    read: wholeNumber(1, 10_000),
    subject: 'Backups',
    parts: ['control plane'],
  },
  'backup-passphrase-file': {
    about: 'file whose first line encrypts the backups',
    hint: 'FILE',
    usual: 'not encrypted',
    read: text,
    subject: 'Backups',
    parts: ['control plane'],
  },
});
