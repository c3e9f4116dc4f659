/** `ctl plugin list`: lists the plugins on the PATH. */
import { basename } from 'node:path';
import { listPlugins } from '../plugins.ts';
import type { Verb, VerbGroup } from '../verb.ts';

const list: Verb = {
  about: 'list the plugins on the PATH',
  flags: { 'name-only': { type: 'boolean', about: 'print the names without their directories' } },
  examples: ['ctl plugin list # list the files of the plugins'],
  async run({ io, flags }) {
    const plugins = listPlugins(io.env.PATH ?? '');
    if (plugins.length === 0) throw new Error('unable to find any plugins in your PATH');
    io.out('The following compatible plugins are available:\n\n');
    for (const { path, problem } of plugins) {
      io.out(`${flags.on('name-only') ? basename(path) : path}\n`);
      if (problem) io.err(`  - warning: ${path} ${problem}\n`);
    }
    const warnings = plugins.filter(({ problem }) => problem !== undefined).length;
    if (warnings > 0) throw new Error(`${warnings} plugin warnings were found`);
  },
};

export const plugin: VerbGroup = {
  about: 'list the plugins: programs kubectl-NAME and minik8s-NAME on the PATH',
  group: 'Other Commands',
  examples: ['ctl plugin list # list the files of the plugins'],
  verbs: { list },
};
