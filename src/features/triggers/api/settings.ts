/** Settings of triggers. */
import { define, type SettingValues } from '../../../settings/definition.ts';
import { directories } from '../../../settings/readers.ts';

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

/** Values by the names of the flags. */
export type TriggerFlags = SettingValues<typeof triggerSettings>;
