/** `minik8s completion`, which prints the scripts, and `minik8s __complete`, which the scripts call. */
import { execFile } from 'node:child_process';
import { isSea } from 'node:sea';
import { defineCommand } from 'citty';
import { type CompletedEntry, completionLines } from './candidates.ts';
import type { AskCluster } from './cluster-candidates.ts';
import { completionScript, type Shell, shells } from './scripts.ts';

const scriptCommand = (shell: Shell) =>
  defineCommand({
    meta: { description: `print the completion script for ${shell}` },
    ...{ examples: [`completion ${shell} # print it, for the start file of the shell`] },
    run: () => void process.stdout.write(completionScript(shell)),
  });

export const command = defineCommand({
  meta: { description: 'print the completion script of a shell' },
  ...{ examples: ['source <(minik8s completion bash) # complete words in this shell'] },
  subCommands: Object.fromEntries(shells.map((shell) => [shell, scriptCommand(shell)])),
});

/** Returns the command that prints the candidates for the last of its words. */
export const completeCommand = (table: Readonly<Record<string, CompletedEntry>>) =>
  defineCommand({
    meta: { description: 'print the candidates for the last word' },
    args: { words: { type: 'positional', required: false, description: 'words of the command line' } },
    run: async ({ args }) => {
      const lines = await completionLines(table, args._, askByCtl);
      process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    },
  });

/** Maximum time in milliseconds that a user waits for names from the cluster. */
const askTimeoutMs = 3000;

/**
 * Runs ctl as a process of its own; returns no lines, and no error, if the server does not answer in time.
 */
const askByCtl: AskCluster = (args) => {
  const program = isSea() ? [] : process.argv.slice(1, 2);
  const timeout = '--request-timeout=2s';
  const options = { timeout: askTimeoutMs, maxBuffer: 2 ** 24 };
  return new Promise((done) => {
    execFile(process.execPath, [...program, 'ctl', ...args, timeout], options, (error, stdout) =>
      done(error === null ? stdout.split('\n').filter((line) => line !== '') : []),
    );
  });
};
