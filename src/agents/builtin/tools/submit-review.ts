import { z } from 'zod';
import { done, failed } from './outcome.ts';
import { defineTool } from './tool.ts';

export const submitReviewTool = defineTool({
  name: 'submit_review',
  description: 'Hands in the verdict of the review with its findings. Call it once.',
  input: {
    verdict: z.enum(['approve', 'request_changes']),
    findings: z.array(
      z.strictObject({
        path: z.string().optional(),
        line: z.number().int().min(1).optional(),
        severity: z.string().min(1),
        text: z.string().min(1),
      }),
    ),
  },
  execute: async (review, context) => {
    const wrong = await context.assignment.host.submitReview(review);
    return wrong === undefined ? done('The review was accepted. Call finish with a short summary.') : failed(wrong);
  },
});
