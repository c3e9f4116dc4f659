/** `ctl options`: lists the flags that every command takes. */
import { connectionFlags } from '../flags/flags.ts';
import type { Verb } from '../verb.ts';

export const options: Verb = {
  about: 'list the flags that every command has',
  group: 'Other Commands',
  examples: ['ctl options # list them with their defaults'],
  async run({ io }) {
    const lines = Object.entries(connectionFlags).map(([name, flag]) => {
      const { about, short, hint, usual }: { about: string; short?: string; hint?: string; usual?: string } =
        flag;
      const term = `${short && short !== name ? `-${short}, ` : ''}${name.length === 1 ? '-' : '--'}${name}`;
      return `    ${term}${hint ? `=${hint}` : ''}:\n        ${about}${usual ? ` [${usual}]` : ''}\n`;
    });
    io.out(`The following flags can be given to every command:\n\n${lines.join('\n')}`);
  },
};
