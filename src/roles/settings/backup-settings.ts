/** Settings of the backups that a master creates by itself. */
import { define } from '../../settings/definition.ts';
import { duration } from '../../settings/duration.ts';
import { oneOf, text, wholeNumber } from '../../settings/readers.ts';
import { backupPlace, regionName, serviceUrl } from './backup-values.ts';

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
    about: 'directory of the backups, or folder of a bucket: s3://BUCKET/PREFIX',
    hint: 'DIRECTORY',
    default: '/var/backups/minik8s',
    read: backupPlace,
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
    about: 'file whose first line is the passphrase that encrypts backups',
    hint: 'FILE',
    usual: 'not encrypted',
    read: text,
    subject: 'Backups',
    parts: ['control plane'],
  },
});

/** Settings of a bucket, which the commands of backups have too. */
export const bucketSettings = define({
  'backup-s3-endpoint': {
    about: 'URL of the S3 service of --backup-dir',
    hint: 'URL',
    usual: 'that of AWS',
    read: serviceUrl,
    subject: 'Backups',
    parts: ['control plane'],
  },
  'backup-s3-region': {
    about: 'region of the bucket',
    hint: 'REGION',
    default: 'us-east-1',
    read: regionName,
    subject: 'Backups',
    parts: ['control plane'],
  },
  'backup-s3-path-style': {
    about: 'put the bucket into the path of URLs, not into their host name',
    hint: 'true|false',
    usual: 'true with an endpoint',
    read: oneOf('true', 'false'),
    subject: 'Backups',
    parts: ['control plane'],
  },
  'backup-s3-credentials-file': {
    about: "file with the access key in AWS's format, mode 0600",
    hint: 'FILE',
    usual: 'AWS_* variables',
    read: text,
    subject: 'Backups',
    parts: ['control plane'],
  },
  'backup-s3-ca-file': {
    about: 'CA certificate that verifies the S3 service',
    hint: 'FILE',
    usual: 'known authorities',
    read: text,
    subject: 'Backups',
    parts: ['control plane'],
  },
  'backup-s3-plain-http': {
    about: 'allow an endpoint without TLS: others can read and change the backups',
    hint: 'true|false',
    default: 'false',
    read: oneOf('true', 'false'),
    subject: 'Backups',
    parts: ['control plane'],
  },
});
