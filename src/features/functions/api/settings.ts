/** Settings of functions. */
import { define, type SettingValues } from '../../../settings/definition.ts';
import { text, wholeNumber } from '../../../settings/readers.ts';

export const functionSettings = define({
  'gateway-port': {
    about: 'port for function calls; open while a function exists',
    hint: 'PORT',
    default: '8070',
    read: wholeNumber(1, 65535),
    subject: 'Functions',
    parts: ['control plane'],
  },
  'python-image': {
    about: 'base image of the python runtime',
    hint: 'IMAGE',
    default: 'python:3-slim',
    read: text,
    subject: 'Functions',
    parts: ['control plane'],
  },
  'nodejs-image': {
    about: 'base image of the nodejs runtime',
    hint: 'IMAGE',
    default: 'node:lts-slim',
    read: text,
    subject: 'Functions',
    parts: ['control plane'],
  },
  'warm-pool': {
    about: 'idle instances of each runtime, in each namespace that has functions of the runtime',
    hint: 'NUMBER',
    default: '0',
    read: wholeNumber(0, 50),
    subject: 'Functions',
    parts: ['control plane'],
  },
});

/** Values by the names of the flags. */
export type FunctionFlags = SettingValues<typeof functionSettings>;
