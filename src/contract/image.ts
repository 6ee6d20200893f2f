import { type Static, Type } from 'typebox';

/** Bytes that an uploaded file may have. */
export const maxImageBytes = 5 * 1024 * 1024;

/** The files of an uploaded image, by the rendition that they hold. */
export const imageFiles = { card: 'card.jpg', full: 'full.jpg', thumbnail: 'thumbnail.jpg' } as const;
export type Rendition = keyof typeof imageFiles;

export const ImageFile = Type.String({
  title: 'ImageFile',
  enum: Object.values(imageFiles),
  description: 'Which rendition.',
});

export const ImageInput = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description: 'Where the image is fetched from, once: https, a public host, an answer 200 and no redirect.',
      }),
    ),
    encoded: Type.Optional(
      Type.String({ minLength: 1, description: 'The file in base64, with or without `data:…;base64,` before it.' }),
    ),
  },
  {
    title: 'ImageInput',
    description: 'Either `url` or `encoded`.',
    examples: [
      { url: 'https://images.example.com/lunch.jpg' },
      {
        encoded:
          'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
      },
    ],
  },
);
export type ImageInput = Static<typeof ImageInput>;

/** A multipart body, read. The file has no `type`: it is a Buffer here. The OpenAPI document gives it one. */
export const ImageUpload = Type.Object(
  {
    file: Type.Unsafe<Buffer>({
      contentMediaType: 'application/octet-stream',
      description: 'The file: JPEG, PNG, WebP, GIF or AVIF. Its name and content type do not count.',
    }),
  },
  { title: 'ImageUpload', description: 'One part `file`.', examples: [{ file: '(the bytes of lunch.jpg)' }] },
);
export type ImageUpload = Static<typeof ImageUpload>;
