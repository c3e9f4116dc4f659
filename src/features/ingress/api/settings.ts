/** Settings of Ingresses. */
import { define } from '../../../settings/definition.ts';
import { oneOf, wholeNumber } from '../../../settings/readers.ts';

export const ingressSettings = define({
  'serve-ingress': {
    about: 'serve Ingresses and Gateways on this node',
    hint: 'true|false',
    default: 'true',
    read: oneOf('true', 'false'),
    subject: 'Node agent',
    parts: ['node'],
  },
  'http-port': {
    about: 'port of this node for HTTP to Ingresses and Dns objects',
    hint: 'PORT',
    default: '80',
    read: wholeNumber(1, 65_535),
    subject: 'Node agent',
    parts: ['node'],
  },
  'https-port': {
    about: 'port of this node for HTTPS to Ingresses (0: none)',
    hint: 'PORT',
    default: '443',
    read: wholeNumber(0, 65_535),
    subject: 'Node agent',
    parts: ['node'],
  },
});
