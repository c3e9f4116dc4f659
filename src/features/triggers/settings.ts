/** Settings of triggers. */
import { define } from '../../settings/definition.ts';
import { directories } from '../../settings/readers.ts';

export const triggerSettings = define({
  'watch-folder': {
    about: 'directories of this machine, with all below them, that triggers of any namespace may read',
    hint: 'DIR,…',
    usual: 'none',
    read: directories,
    subject: 'Node agent',
    parts: ['node'],
  },
});
