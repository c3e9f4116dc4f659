/** `ctl kuberc`: shows and changes the file with a user's aliases and defaults, as kubectl 1.35 does. */
import { UsageError } from '../../base/usage-error.ts';
import { replaceBehindLink } from '../../os/replace-behind-link.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import type { Io } from '../io.ts';
import { changedPreferences } from '../kuberc/change-plan.ts';
import { documentOf, type Preferences, readPreferences, usualFile } from '../kuberc/preferences.ts';
import { madeFormat, objectFormat } from '../printers/object-format.ts';
import type { Verb, VerbGroup } from '../verb.ts';

const none: Preferences = { aliases: [], overrides: [] };

const view: Verb = {
  about: 'print the aliases and defaults of your file kuberc',
  flags: printFlags,
  examples: ['ctl kuberc view # print them', 'ctl kuberc view -o json # print them as JSON'],
  async run({ io, flags }) {
    const { file } = fileOf(io, flags);
    const preferences = readPreferences(file);
    if (!preferences) throw new Error(`kuberc file not found at ${file}; ctl kuberc set makes it`);
    const output = flags.text('output') || flags.text('template') ? flags : flags.with('output', 'yaml');
    const format = madeFormat(output);
    if (!format) throw new UsageError('ctl kuberc view: -o wide is not supported; use yaml or json');
    io.out(format(documentOf(preferences)));
  },
};

const setFlags = {
  section: {
    type: 'string',
    hint: 'defaults|aliases|credentialplugin',
    about: 'what to set: defaults of a command, an alias, or which credential plugins may run; required',
  },
  command: { type: 'string', hint: 'COMMAND', about: "command of the defaults or alias, such as 'set env'" },
  name: { type: 'string', hint: 'NAME', about: 'name of the alias' },
  option: { type: 'string', hint: 'FLAG=VALUE', about: 'default of a flag; may be repeated' },
  prependarg: {
    type: 'string',
    hint: 'WORD',
    about: 'word of an alias before those that are typed; may be repeated',
  },
  appendarg: {
    type: 'string',
    hint: 'WORD',
    about: 'word of an alias after those that are typed; may be repeated',
  },
  policy: {
    type: 'string',
    hint: 'AllowAll|DenyAll|Allowlist',
    about: 'which credential plugins may run; required for the section credentialplugin',
  },
  'allowlist-entry': {
    type: 'string',
    hint: 'command=PROGRAM',
    about: 'a plugin that may run; may be repeated',
  },
  overwrite: { type: 'boolean', about: 'replace the entry if there is one already' },
} as const satisfies FlagTable;

const set: Verb = {
  about: 'set a default of a command, an alias, or which credential plugins may run',
  words: '--section=SECTION',
  flags: setFlags,
  examples: [
    'ctl kuberc set --section=defaults --command=get --option=output=wide # get prints wide tables',
    'ctl kuberc set --section=aliases --name=getn --command=get --prependarg=nodes # getn is get nodes',
    'ctl kuberc set --section=credentialplugin --policy=Allowlist --allowlist-entry=command=aws # run only aws',
  ],
  async run({ io, flags }) {
    const { file } = fileOf(io, flags);
    const text = (name: keyof typeof setFlags) => flags.text(name) ?? '';
    const changed = changedPreferences(readPreferences(file) ?? none, {
      section: text('section'),
      command: text('command'),
      name: text('name'),
      options: flags.texts('option'),
      prependArgs: flags.texts('prependarg'),
      appendArgs: flags.texts('appendarg'),
      overwrite: flags.on('overwrite'),
      policy: text('policy'),
      allowlist: flags.texts('allowlist-entry'),
    });
    const document = objectFormat('yaml')?.(documentOf(changed)) ?? '';
    await replaceBehindLink(file, document, (before = 0o644) => before);
    io.out(`Updated ${file}\n`);
  },
};

/** Returns the path of the file. Throws if the user has turned it off, and for words without a meaning. */
function fileOf(io: Io, flags: Flags): { readonly file: string } {
  if (flags.words.length > 0) throw new UsageError(`unexpected arguments: ${flags.words.join(' ')}`);
  if (io.env.KUBERC === 'off') throw new UsageError('KUBERC is disabled via KUBERC=off environment variable');
  return { file: flags.text('kuberc') || io.env.KUBERC || usualFile(io.homeDirectory) };
}

export const kuberc: VerbGroup = {
  about: 'show or change the file with your aliases of commands and defaults of flags',
  group: 'Settings Commands',
  examples: ['ctl kuberc view # print the aliases and defaults'],
  verbs: { set, view },
};
