/** The pages about work: functions, workflows, triggers and Slurm jobs. */
import assert from 'node:assert/strict';
import { waitingJob } from './feature-objects.ts';
import { looksWell } from './looks.ts';
import type { Step } from './step.ts';
import { apply, isHacked } from './world.ts';

export const workSteps: readonly Step[] = [
  {
    name: 'a function is called by its form, and its answer stays text',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'functions');
      await page.getByRole('article', { name: 'clerk' }).getByText('running', { exact: true }).waitFor();
      await looksWell(browser, page, 'functions');
      await page.getByRole('link', { name: 'clerk' }).click();
      await page.getByLabel('Argument as JSON').fill('{"total": 42}');
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      const answer = page.getByRole('region', { name: 'Answer' });
      await answer.getByText('answered').waitFor();
      assert.match((await answer.locator('pre').textContent()) ?? '', /"total": 42/);
      assert.equal(await isHacked(page), false);
      await looksWell(browser, page, 'function');
      await page.context().close();
    },
  },
  {
    name: 'a user who may not call a function has no form for it',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.viewer, 'k/functions.minik8s.io/shop/clerk');
      await page.getByRole('heading', { name: 'clerk' }).waitFor();
      await page.getByRole('link', { name: 'YAML', exact: true }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'Call', exact: true }).count(), 0);
      await page.context().close();
    },
  },
  {
    name: 'a run of a workflow is started by its form, and its states are on the graph',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/workflows.minik8s.io/shop/order/graph');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByLabel('Input as JSON').fill('{"who": "anna"}');
      await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click();
      await page.getByText('Succeeded').first().waitFor();
      await page.getByRole('button', { name: /Small/ }).click();
      await page
        .getByRole('region', { name: 'Data' })
        .getByText(/a small order/)
        .first()
        .waitFor();
      await looksWell(browser, page, 'workflow-run');
      await page.goto('/dashboard/workflows');
      await page.getByRole('article', { name: 'order' }).getByText('Succeeded').first().waitFor();
      await looksWell(browser, page, 'workflows');
      await page.context().close();
    },
  },
  {
    name: 'a dead letter is shown with its error, and delivered by a replay',
    async run({ browser, cluster: { kubectl }, tokens }) {
      await kubectl('wait', 'trigger', 'letters', '-n', 'shop', '--for=condition=Ready', '--timeout=60s');
      await apply({ kubectl }, [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'letter', namespace: 'shop', labels: { letter: 'yes' } },
        },
      ]);
      const page = await browser.signIn(tokens.admin, 'triggers');
      const card = page.getByRole('article', { name: 'letters' });
      const letter = card.locator('.letter');
      await letter.locator('summary').click();
      assert.match((await letter.textContent()) ?? '', /asleep|500/);
      await looksWell(browser, page, 'triggers');
      await letter.getByRole('button', { name: 'Deliver again' }).click();
      await letter.waitFor({ state: 'detached' });
      await card.getByText('Delivered').locator('xpath=following-sibling::dd').getByText('1').waitFor();
      await page.context().close();
    },
  },
  {
    name: 'the page of Slurm jobs reports that there are none, and shows a job that waits',
    async run({ browser, cluster, tokens }) {
      const page = await browser.signIn(tokens.admin, 'slurm');
      await page.getByText('No Slurm jobs here.').waitFor();
      await apply(cluster, waitingJob);
      await page.getByRole('link', { name: 'simulation' }).waitFor();
      await looksWell(browser, page, 'slurm');
      await page.context().close();
    },
  },
];
