/** Settings of host names. */
import { define, type SettingValues } from '../../../settings/definition.ts';
import { domains } from '../../../settings/domains.ts';
import { oneOf, text } from '../../../settings/readers.ts';
import { defaultDnsDomains } from './dns-host-problem.ts';

export const hostNameSettings = define({
  'dns-domains': {
    about: 'parent domains allowed for hosts of Dns objects, comma-separated',
    hint: 'DOMAIN,…',
    usual: defaultDnsDomains.join(','),
    read: domains,
    subject: 'Addresses and names of the cluster',
    parts: ['control plane'],
    shared: true,
  },
  'nginx-image': {
    about: 'image of the nginx that serves Ingresses and Dns objects',
    hint: 'IMAGE',
    default: 'nginx:alpine',
    read: text,
    subject: 'Node agent',
    parts: ['node'],
  },
  'write-etc-hosts': {
    about: 'write the hosts of Dns objects into /etc/hosts of this machine',
    hint: 'true|false',
    default: 'false',
    read: oneOf('true', 'false'),
    subject: 'Node agent',
    parts: ['node'],
  },
});

/** Values by the names of the flags. */
export type HostNameFlags = SettingValues<typeof hostNameSettings>;
