import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { causesPage } from '../../../config/docs/causes-page.ts';

it('docs/causes.md is the output of npm run docs:causes', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/causes.md'), 'utf8');
  assert.equal(page, causesPage());
});
