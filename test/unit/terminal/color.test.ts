import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { type ColorMode, paletteFor } from '../../../src/terminal/color.ts';

const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
const green = (text: string) => `\u001b[32m${text}\u001b[39m`;
const yellow = (text: string) => `\u001b[33m${text}\u001b[39m`;

const cases: [mode: ColorMode, env: Record<string, string>, isTerminal: boolean, colored: boolean][] = [
  ['auto', { TERM: 'xterm' }, true, true],
  ['auto', {}, true, true],
  ['auto', { TERM: 'xterm' }, false, false],
  ['auto', { NO_COLOR: '1' }, true, false],
  ['auto', { NO_COLOR: '' }, true, true],
  ['auto', { TERM: 'dumb' }, true, false],
  ['never', {}, true, false],
  ['always', { NO_COLOR: '1', TERM: 'dumb' }, false, true],
];
for (const [mode, env, isTerminal, colored] of cases) {
  test(`output ${isTerminal ? 'on a terminal' : 'in a pipe'} is ${colored ? 'coloured' : 'plain'} in mode ${mode} with ${JSON.stringify(env)}`, () => {
    const { header, cell, message } = paletteFor(mode, env, isTerminal);
    assert.equal(header('NAME'), colored ? '\u001b[1mNAME\u001b[22m' : 'NAME');
    assert.equal(cell('Running'), colored ? green('Running') : 'Running');
    assert.equal(message('error: no'), colored ? `${red('error:')} no` : 'error: no');
  });
}

const { cell, message } = paletteFor('always', {}, false);

test('states have the colour of their meaning, and other texts have none', () => {
  for (const state of ['Running', 'Ready', 'Active', 'Completed', 'Approved,Issued'])
    assert.equal(cell(state), green(state));
  for (const state of ['CrashLoopBackOff', 'ErrImagePull', 'Error', 'CreateContainerConfigError', 'NotReady'])
    assert.equal(cell(state), red(state));
  for (const state of ['NotSupported', 'SysctlForbidden', 'ContainerCannotRun'])
    assert.equal(cell(state), red(state));
  assert.equal(cell('NotReady,SchedulingDisabled'), red('NotReady,SchedulingDisabled'));
  for (const state of ['Pending', 'Terminating', 'ContainerCreating', 'Ready,SchedulingDisabled', 'Init:0/1'])
    assert.equal(cell(state), yellow(state));
  for (const text of ['running', 'web-1', '1/1', '<none>', '', '10.0.0.1', 'Opaque', 'error'])
    assert.equal(cell(text), text);
});

test('the first words of errors and warnings have a colour', () => {
  assert.equal(
    message('Error from server (NotFound): pods "x" not found\n'),
    `${red('Error from server (NotFound):')} pods "x" not found\n`,
  );
  assert.equal(
    message('The Pod "x" is invalid: \n* a\nWarning: b\nno error: here\n'),
    `${red('The Pod "x" is invalid:')} \n* a\n${yellow('Warning:')} b\nno error: here\n`,
  );
  assert.equal(stripVTControlCharacters(message('warning: a')), 'warning: a');
});
