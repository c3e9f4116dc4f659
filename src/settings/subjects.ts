/** Headings under which --help lists the settings, in this order. */
export const settingSubjects = [
  'Joining a cluster',
  'This machine',
  'API server',
  'Tokens of service accounts',
  'Storage',
  'Addresses and names of the cluster',
  'Tracing',
  'Nodes and scheduling',
  'Scaling by load',
  'Functions',
  'Node agent',
] as const;

export type SettingSubject = (typeof settingSubjects)[number];
