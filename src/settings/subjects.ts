/** Headings under which --help lists the settings, in this order. */
export const settingSubjects = [
  'Joining a cluster',
  'This machine',
  'API server',
  'Tokens of service accounts',
  'Storage',
  'Backups',
  'Addresses and names of the cluster',
  'Tracing',
  'Nodes and scheduling',
  'Scaling by load',
  'Functions',
  'Node agent',
  'This backup',
  'This upgrade',
  'What is done',
  'Confirmation',
] as const;

export type SettingSubject = (typeof settingSubjects)[number];

/** Headings of flags of the roles that are no settings. */
export const flagHeadings = {
  config: 'This machine',
  join: 'Joining a cluster',
  dir: 'This backup',
  'passphrase-file': 'This backup',
  replace: 'This backup',
  file: 'This upgrade',
  back: 'This upgrade',
  sha256: 'This upgrade',
  'allow-downgrade': 'This upgrade',
  timeout: 'This upgrade',
  'data-format': 'This upgrade',
  nodes: 'This upgrade',
  drain: 'This upgrade',
  backup: 'What is done',
  start: 'What is done',
  'link-kubectl': 'What is done',
  'keep-data': 'What is done',
  'dry-run': 'What is done',
  yes: 'Confirmation',
} as const satisfies Readonly<Record<string, SettingSubject>>;
