import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluateGoTemplate } from '../../../../src/apimachinery/go-template/evaluate.ts';
import { parseGoTemplate } from '../../../../src/apimachinery/go-template/parse.ts';
import { goTemplates, templateData } from '../../../fixtures/go-templates.ts';

const evaluate = (text: string, missingKeyIsError = false) =>
  evaluateGoTemplate(parseGoTemplate(text), templateData, { missingKeyIsError });

describe('a Go template', () => {
  for (const [template, expected] of goTemplates) {
    if (expected === undefined) {
      it(`is rejected if it is ${template}`, () => {
        assert.throws(() => evaluate(template), /^(UsageError|Error): /);
      });
    } else {
      it(`prints ${JSON.stringify(expected)}: ${template}`, () => {
        assert.equal(evaluate(template), expected);
      });
    }
  }

  it('fails at a missing key if missing keys are errors', () => {
    assert.throws(() => evaluate('{{.nope}}', true), /map has no entry for key "nope"/);
    assert.throws(() => evaluate('{{.kind.nope}}', true), /can't evaluate field nope/);
  });

  it('is rejected with the line of the error', () => {
    assert.throws(() => evaluate('a\nb {{.x'), /template: line 2: unclosed action/);
  });

  it('fails with an error if it calls itself endlessly', () => {
    assert.throws(
      () => evaluate('{{define "a"}}{{template "a"}}{{end}}{{template "a"}}'),
      /nested templates/,
    );
  });

  it('fails with an error if its nested loops take too many steps', () => {
    const digits = '1234567890'.repeat(10).split('');
    const data = { items: digits };
    const loops = '{{range .items}}'.repeat(1) + '{{range $.items}}'.repeat(5);
    const text = `${loops}x${'{{end}}'.repeat(6)}`;
    const run = () => evaluateGoTemplate(parseGoTemplate(text), data, { missingKeyIsError: false });
    assert.throws(run, /more than 10000000 steps/);
  });

  it('is rejected if it has thousands of nested parentheses or actions', () => {
    assert.throws(() => parseGoTemplate(`{{${'('.repeat(5000)}1${')'.repeat(5000)}}}`), /nested parentheses/);
    assert.throws(() => parseGoTemplate('{{if 1}}'.repeat(5000)), /nested actions/);
  });
});
