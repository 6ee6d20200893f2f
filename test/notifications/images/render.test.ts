import { expect, test } from 'vitest';
import { Problem } from '../../../src/lib/problem.js';
import { createRender } from '../../../src/notifications/images/render.js';
import { plain } from '../../support/image-fixtures.js';

test('one file is decoded at a time, a few wait, and further files are refused at once', async () => {
  const render = createRender();
  const file = await plain(20, 20).png().toBuffer();
  const acts = await Promise.allSettled(Array.from({ length: 12 }, () => render(file, () => 5000)));
  const refused = acts.flatMap((act) => (act.status === 'rejected' ? [act.reason] : []));
  expect(acts.map(({ status }) => status).indexOf('rejected')).toBe(9);
  expect(refused).toHaveLength(3);
  for (const reason of refused) {
    expect(reason).toBeInstanceOf(Problem);
    expect(reason).toMatchObject({ code: 'overloaded', options: { retryAfter: 1 } });
  }
  expect(Object.keys(await render(file, () => 5000))).toEqual(['card', 'full', 'thumbnail']);
});

test('decoding stops at the time limit, and no step starts after it', async () => {
  const render = createRender();
  const file = await plain(20, 20).png().toBuffer();
  for (const steps of [0, 1, 2, 3]) {
    let checks = 0;
    const left = () => {
      if (checks === steps) throw new Problem('image_not_stored');
      checks += 1;
      return 1000;
    };
    await expect(render(file, left)).rejects.toMatchObject({ code: 'image_not_stored' });
    expect(checks).toBe(steps);
  }
  expect(Object.keys(await render(file, () => 0))).toEqual(['card', 'full', 'thumbnail']);
});
